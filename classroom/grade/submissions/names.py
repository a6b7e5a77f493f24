"""What a piece of code does to the names of a notebook: those that it binds, changes and uses, now and when called."""

import ast
import symtable

DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS = {"listcomp", "setcomp", "dictcomp", "genexpr"}  # tables of code that runs where it stands
CHANGE_THEIR_OBJECT = {  # methods whose result may be used all the same
    "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "load_state_dict", "pop",
    "popitem", "popleft", "remove", "reverse", "rotate", "setdefault", "sort", "update",
}  # fmt: skip
ONLY_SHOW = {"print", "display", "check", "hint", "len", "repr", "str", "type", "isinstance"}
REACH_ANY_NAME = {"exec", "globals", "locals", "vars", "get_ipython"}
ANY = "*"  # stands for any name: `from there import *`, `globals()["name"] = …`


class Names:
    """The names of a cell, or of one statement.

    binds: bound at its top level, perhaps in a branch only; settles: bound whatever happens there; imports: bound by an
    import, which may be of another edition's and fail. changes: those of which an attribute or an item is set; touches:
    whose object a call may change, in a generous reading. uses: read, in inner functions too; needs: read while the
    cell runs, before the cell has bound them; later: read when a function of it is called; sets_later: what such a call
    binds or changes. seeds: whether it sets where torch's random numbers begin.
    """

    def __init__(self, tree, table):
        self._tree, self._table = tree, table
        self.binds, self.changes, self.settles, self.imports = set(), set(), set(), set()
        for statement in tree.body:
            bound, changed = bound_by(statement)
            self.binds |= bound
            self.changes |= changed
            self.settles |= _settled_by(statement)
            self.imports |= bound if isinstance(statement, ast.Import | ast.ImportFrom) else set()
        self.now, self.later, self.global_later = used_in(table)
        self.now |= _augmented_in(tree)
        self.uses = self.now | self.later
        self.may_bind_any = ANY in self.binds or bool(self.now & REACH_ANY_NAME)
        calls = [node.func for node in _outside_functions(tree) if isinstance(node, ast.Call)]
        self.seeds = any(getattr(call, "attr", "") == "manual_seed" and _root(call) == "torch" for call in calls)

    def needs(self):
        if len(self._tree.body) < 2:
            return self.now
        needs, settled = set(), set()
        for statement in self._tree.body:
            now, _, _ = used_in(symtable.symtable(ast.unparse(statement), "cell", "exec"))
            needs |= (now | _augmented_in(statement)) - settled
            is_import = isinstance(statement, ast.Import | ast.ImportFrom)  # should it fail, the cell ends there
            settled |= bound_by(statement)[0] if is_import else _settled_by(statement)
        return needs

    def touches(self):
        """Names whose object may be changed while the cell runs."""
        return self.changes | _touched(_outside_functions(self._tree))

    def sets_later(self):
        """Names that a call of one of its functions may bind, or whose object it may change."""
        touched = set()
        for node in ast.walk(self._tree):
            if isinstance(node, DEFINITION | ast.Lambda):
                body = list(ast.walk(node))
                stored = {_root(one) for one in body if _is_stored_part(one)}
                touched |= (stored | _touched(body)) & self.later
        return self.global_later | touched | ({ANY} if self.later & REACH_ANY_NAME else set())

    def change_arguments(self):
        """The names of its functions that change what they are given."""
        names = set()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.FunctionDef):
                body = list(ast.walk(node))
                args = {arg.arg for arg in body if isinstance(arg, ast.arg)}
                if args & ({_root(one) for one in body if _is_stored_part(one)} | _touched(body)):
                    names.add(node.name)
        return names

    def passed(self):
        """Pairs of a function's name and a name that it is given while the cell runs."""
        calls = [node for node in _outside_functions(self._tree) if isinstance(node, ast.Call)]
        return {(_root(call.func), _root(arg)) for call in calls for arg in _arguments(call)}


def bound_by(statement):
    """Return the names that a top-level statement binds, and those of which it sets an attribute or an item."""
    if isinstance(statement, DEFINITION):
        return {statement.name}, set()
    names, changed = set(), set()
    for node in _outside_definitions(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, DEFINITION):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, COMPREHENSION):
            names |= {one.target.id for one in ast.walk(node) if isinstance(one, ast.NamedExpr)}
        elif _is_stored_part(node) and _root(node):
            changed.add(_root(node))
    return names, changed


def used_in(table):
    """Return the global names that a piece of code reads as it runs, uses when called, and binds when called."""
    now, later, sets = set(), set(), set()
    for symbol in table.get_symbols():
        if table.get_type() == "module" or symbol.is_global():
            if symbol.is_referenced():
                now.add(symbol.get_name())
            if symbol.is_assigned() and symbol.is_declared_global():
                sets.add(symbol.get_name())
                now.add(symbol.get_name())  # `n += 1` reads it too, and no table says so
    for child in table.get_children():
        its_now, its_later, its_sets = used_in(child)
        runs_here = child.get_type() == "class" or child.get_name() in COMPREHENSIONS
        now |= its_now if runs_here else set()
        later |= its_later if runs_here else its_now | its_later
        sets |= its_sets
    return now, later, sets


def _settled_by(statement):
    """The names that a statement binds if it runs; an import may come from another edition, and settles nothing."""
    match statement:
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.FunctionDef() | ast.AsyncFunctionDef():
            return bound_by(statement)[0]
        case ast.ClassDef():
            return {statement.name}
        case ast.With():
            return set().union(*map(_settled_by, statement.body))
    return set()


def _augmented_in(tree):
    """What `n += 1` reads; its table calls it written only."""
    return {_root(node.target) for node in _outside_functions(tree) if isinstance(node, ast.AugAssign)} - {None}


def _touched(nodes):
    touched = set()
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Call() as call) if _root(call.func) not in ONLY_SHOW:
                touched |= {_root(arg) for arg in _arguments(call)}
                touched |= {_root(call.func)} if isinstance(call.func, ast.Attribute) else set()
            case ast.Call(func=ast.Attribute(attr=method)):
                in_place = method.endswith("_") and not method.endswith("__")
                touched |= {_root(node.func)} if in_place or method in CHANGE_THEIR_OBJECT else set()
                touched |= {_root(arg) for arg in node.args} if in_place else set()
            case ast.AugAssign():
                touched.add(_root(node.target))
    return touched - {None}


def _arguments(call):
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_stored_part(node):
    return isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del)


def _root(node):
    """The name at the beginning of `name.part[0].other`, None for what begins otherwise."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _outside_definitions(node):
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITION | COMPREHENSION):
            yield child
        elif not isinstance(child, ast.Lambda):
            yield from _outside_definitions(child)


def _outside_functions(node):
    """All nodes of what runs where it stands: comprehensions and classes too, functions not."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _outside_functions(child)
