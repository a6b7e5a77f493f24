// In place of @lezer/highlight, which the grammar of Python names and a page that colours nothing does without: 5 KB.

export const styleTags = () => () => undefined;
export const tags = new Proxy(() => tags, { get: () => tags });
