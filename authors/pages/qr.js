// A QR code of a short text, as SVG: bytes, correction level L, versions 1 to 10, mask 0. ISO/IEC 18004.

// version → bytes of data in all, blocks, bytes of correction in each block
const SIZES = [
  [19, 1, 7],
  [34, 1, 10],
  [55, 1, 15],
  [80, 1, 20],
  [108, 1, 26],
  [136, 2, 18],
  [156, 2, 20],
  [194, 2, 24],
  [232, 2, 30],
  [274, 4, 18],
];
const FORMAT = 0b111011111000100; // level L, mask 0, with its correction

const EXP = [];
for (let i = 0, x = 1; i < 255; i++, x = (x << 1) ^ (x > 127 ? 0x11d : 0)) EXP.push(x);
const times = (x, y) => (x && y ? EXP[(EXP.indexOf(x) + EXP.indexOf(y)) % 255] : 0);

/** The remainder that Reed and Solomon's code adds to these bytes. */
function correction(bytes, count) {
  let generator = [1];
  for (let i = 0; i < count; i++) generator = [...generator, 0].map((x, k) => x ^ times(generator[k - 1] ?? 0, EXP[i]));
  const rest = [...bytes, ...Array(count).fill(0)];
  for (let i = 0; i < bytes.length; i++) {
    const lead = rest[i];
    generator.forEach((x, k) => (rest[i + k] ^= times(x, lead)));
  }
  return rest.slice(bytes.length);
}

function bytesOf(text, version) {
  const data = [...new TextEncoder().encode(text)];
  const [room] = SIZES[version - 1];
  const bit = (x, length) => x.toString(2).padStart(length, "0");
  const bits = `0100${bit(data.length, version < 10 ? 8 : 16)}${data.map((x) => bit(x, 8)).join("")}0000`;
  const whole = bits.slice(0, room * 8).padEnd(Math.ceil(Math.min(bits.length, room * 8) / 8) * 8, "0");
  const bytes = whole.match(/.{8}/g).map((one) => Number.parseInt(one, 2));
  for (let i = 0; bytes.length < room; i++) bytes.push(i % 2 ? 0x11 : 0xec);
  return bytes;
}

/** All bytes of a code, the blocks in turn. */
function woven(bytes, version) {
  const [room, many, added] = SIZES[version - 1];
  const short = Math.floor(room / many);
  const longer = room % many;
  const start = (i) => i * short + Math.max(0, i - many + longer);
  const blocks = Array.from({ length: many }, (_, i) => bytes.slice(start(i), start(i + 1)));
  const turn = (lists) =>
    Array.from({ length: Math.max(...lists.map((one) => one.length)) }, (_, i) => lists.map((one) => one[i]))
      .flat()
      .filter((x) => x !== undefined);
  return [...turn(blocks), ...turn(blocks.map((one) => correction(one, added)))];
}

const alignments = (version) => {
  if (version < 2) return [];
  const last = 4 * version + 10;
  return version < 7 ? [6, last] : [6, last / 2 + 3, last];
};

/** The squares of a code, rows of true and false; null for a text that is too long. */
export function squares(text) {
  const length = new TextEncoder().encode(text).length;
  const version = SIZES.findIndex(([room], i) => length <= room - (i < 9 ? 2 : 3)) + 1;
  if (!version) return null;
  const size = 17 + 4 * version;
  const grid = Array.from({ length: size }, () => Array(size).fill(null));
  const put = (row, column, dark) => {
    if (grid[row]?.[column] !== undefined) grid[row][column] = Boolean(dark);
  };
  const ringed = (row, column, radius, isDark) => {
    for (let i = -radius; i <= radius; i++)
      for (let j = -radius; j <= radius; j++) put(row + i, column + j, isDark(Math.max(Math.abs(i), Math.abs(j))));
  };
  for (let i = 0; i < size; i++)
    for (const [row, column] of [
      [6, i],
      [i, 6],
    ])
      put(row, column, i % 2 === 0);
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ])
    ringed(row, column, 4, (far) => far !== 2 && far !== 4);
  const places = alignments(version);
  for (const row of places)
    for (const column of places)
      if (grid[row][column] === null || (row === 6) !== (column === 6)) {
        const isCorner = (row < 9 && (column < 9 || column > size - 9)) || (row > size - 9 && column < 9);
        if (!isCorner) ringed(row, column, 2, (far) => far !== 1);
      }
  for (let i = 0; i < 15; i++) {
    const dark = (FORMAT >> i) & 1;
    const upper = i < 6 ? i : i < 8 ? i + 1 : size - 15 + i;
    const left = i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i;
    put(upper, 8, dark);
    put(8, left, dark);
  }
  put(size - 8, 8, true);
  if (version > 6) {
    let rest = version << 12;
    for (let i = 17; i >= 12; i--) if ((rest >> i) & 1) rest ^= 0x1f25 << (i - 12);
    const bits = (version << 12) | rest;
    for (let i = 0; i < 18; i++) {
      const [far, near] = [size - 11 + (i % 3), Math.floor(i / 3)];
      put(near, far, (bits >> i) & 1);
      put(far, near, (bits >> i) & 1);
    }
  }
  const bits = woven(bytesOf(text, version), version)
    .map((x) => x.toString(2).padStart(8, "0"))
    .join("");
  let next = 0;
  for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right--;
    for (let k = 0; k < size; k++) {
      const row = up ? size - 1 - k : k;
      for (const column of [right, right - 1])
        if (grid[row][column] === null) put(row, column, (bits[next++] === "1") !== ((row + column) % 2 === 0));
    }
  }
  return grid;
}

/** A code as SVG, dark on white in any theme, so that every phone reads it; "" for a text that is too long. */
export function qrCode(text, label) {
  const grid = squares(text);
  if (!grid) return "";
  const size = grid.length + 8;
  const path = grid.flatMap((row, i) => row.map((dark, j) => (dark ? `M${j + 4} ${i + 4}h1v1h-1z` : ""))).join("");
  return `<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`;
}
