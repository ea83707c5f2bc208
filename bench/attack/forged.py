"""Parquet files that lie: reads and writes footers and page headers, and makes tables of any length from nothing.

Only as much of Parquet as forging needs: the Thrift compact protocol as lists of (field, type, value), so that whatever is
not forged is written as it was read.
"""
import json
import struct
import zlib

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
MAGIC = b"PAR1"
# Encodings and pages, as Parquet numbers them.
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2
BOOLEAN, INT32, INT64, REAL64, BYTES = 0, 1, 2, 5, 6


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def value(self, kind):
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self.bytes(1)
        if kind in (I16, I32, I64):
            return self.zigzag()
        if kind == DOUBLE:
            return self.bytes(8)
        if kind == BINARY:
            return self.bytes(self.varint())
        if kind in (LIST, SET):
            head = self.bytes(1)[0]
            inner, count = head & 15, head >> 4
            count = self.varint() if count == 15 else count
            # Truth values in lists are bytes of their own.
            return inner, [self.bytes(1) if inner in (TRUE, FALSE) else self.value(inner) for _ in range(count)]
        if kind == STRUCT:
            return self.struct()
        raise ValueError(f"type {kind} is not known")

    def struct(self):
        fields, number = [], 0
        while (head := self.bytes(1)[0]) != 0:
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            fields.append([number, head & 15, self.value(head & 15)])
        return fields


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def zigzag(value):
    return varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


def written(kind, value):
    if kind in (TRUE, FALSE):
        return b""
    if kind in (BYTE, DOUBLE):
        return value
    if kind in (I16, I32, I64):
        return zigzag(value)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind in (LIST, SET):
        inner, values = value
        head = bytes([len(values) << 4 | inner]) if len(values) < 15 else bytes([0xF0 | inner]) + varint(len(values))
        return head + b"".join(item if inner in (TRUE, FALSE) else written(inner, item) for item in values)
    out = b""
    number = 0
    for field, inner, item in value:
        step = field - number
        out += bytes([step << 4 | inner]) if 0 < step < 16 else bytes([inner]) + zigzag(field)
        out += written(inner, item)
        number = field
    return out + b"\0"


def get(struct_, field):
    return next((value for number, _, value in struct_ if number == field), None)


def put(struct_, field, value):
    """Gives a field that is there another value of its kind; says whether it was."""
    for entry in struct_:
        if entry[0] == field and isinstance(value, int) == (entry[1] in (I16, I32, I64)):
            entry[2] = value
            return True
    return False


def footer_of(data):
    length = struct.unpack_from("<I", data, len(data) - 8)[0]
    return data[:len(data) - 8 - length], Reader(data, len(data) - 8 - length).struct()


def with_footer(body, footer):
    text = written(STRUCT, footer)
    return body + text + struct.pack("<I", len(text)) + MAGIC


def columns_of(footer):
    """All chunks of columns, each as what is told of it."""
    return [get(chunk, 3) for group in get(footer, 4)[1] for chunk in get(group, 1)[1]]


def lie_about_rows(data, rows):
    """The same table, said to have so many rows everywhere."""
    body, footer = footer_of(data)
    put(footer, 3, rows)
    for group in get(footer, 4)[1]:
        put(group, 3, rows)
    for column in columns_of(footer):
        put(column, 5, rows)
    return with_footer(body, footer)


def lie_about_sizes(data, size):
    """The same table, whose columns are said to take so many bytes once they are unpacked."""
    body, footer = footer_of(data)
    for column in columns_of(footer):
        put(column, 6, size)
        put(column, 7, size)
    return with_footer(body, footer)


def lie_about_pages(data, size, values):
    """The same table; its first page of each column says that it unpacks to so many bytes and values."""
    body, footer = footer_of(data)
    for column in columns_of(footer):
        at = min(place for place in (get(column, 9), get(column, 11)) if place)
        end = at + get(column, 7)
        reader = Reader(body, at)
        page = reader.struct()
        put(page, 2, size)
        for inner in (get(page, 5), get(page, 7), get(page, 8)):
            if inner and values is not None:
                put(inner, 1, values)
        moved = len(body)
        head = written(STRUCT, page)
        # The forged page goes behind all others; the column is told to begin there.
        body += head + body[reader.at:end]
        shift = moved - at
        for field in (9, 11):
            if get(column, field):
                place = get(column, field)
                put(column, field, place + shift + (len(head) - (reader.at - at) if place != at else 0))
        put(column, 7, end - at + len(head) - (reader.at - at))
    return with_footer(body, footer)


def leaves(schema):
    """Of each column its path, its type, how deep definition goes, and where that of an empty list ends, if it has lists."""
    at = 0
    found = []

    def walk(name, defined, empty, is_root):
        nonlocal at
        element = schema[at]
        at += 1
        how = get(element, 3) or 0
        if not is_root:
            name = name + [get(element, 4)]
            empty = defined if how == 2 else empty
            defined += how != 0
        children = get(element, 5) or 0
        if not children:
            found.append((name, get(element, 1), defined, empty))
        for _ in range(children):
            walk(name, defined, empty, False)

    walk([], 0, None, True)
    return found


def run_of(value, count, bits):
    return varint(count << 1) + value.to_bytes((bits + 7) // 8, "little")


def sized(data):
    return struct.pack("<I", len(data)) + data


def encoded(kind, value):
    if kind == BYTES:
        return sized(value.encode())
    return b"" if kind == BOOLEAN else struct.pack({INT32: "<i", INT64: "<q", REAL64: "<d"}[kind], value)


def column(at, leaf, value, rows):
    """A column of equal values, none if there is no value: its bytes, which begin at a place of the file, and what is told of it."""
    path, kind, defined, empty = leaf
    is_list = empty is not None
    is_there = value is not None
    plain = encoded(kind, value) if is_there else b""
    level = defined if is_there else empty or 0
    # A list has one value, or none.
    levels = sized(run_of(0, rows, 1)) if is_list else b""
    if defined:
        levels += sized(run_of(level, rows, defined.bit_length()))
    body, dictionary = b"", None
    if not is_there:
        content, encoding = levels, PLAIN
    elif kind == BOOLEAN:
        content, encoding = levels + sized(run_of(int(value), rows, 1)), RLE
    else:
        head = [[1, I32, DICTIONARY_PAGE], [2, I32, len(plain)], [3, I32, len(plain)],
                [7, STRUCT, [[1, I32, 1], [2, I32, PLAIN]]]]
        dictionary = at
        body += written(STRUCT, head) + plain
        # Indices of one bit, all 0.
        content, encoding = levels + b"\1" + run_of(0, rows, 1), RLE_DICTIONARY
    page = at + len(body)
    head = [[1, I32, DATA_PAGE], [2, I32, len(content)], [3, I32, len(content)],
            [5, STRUCT, [[1, I32, rows], [2, I32, encoding], [3, I32, RLE], [4, I32, RLE]]]]
    body += written(STRUCT, head) + content
    told = [[1, I32, kind], [2, LIST, (I32, [PLAIN, RLE, RLE_DICTIONARY])], [3, LIST, (BINARY, path)],
            [4, I32, 0], [5, I64, rows], [6, I64, len(body)], [7, I64, len(body)], [9, I64, page]]
    if dictionary is not None:
        told.append([11, I64, dictionary])
        if kind in (INT32, INT64):
            told.append([12, STRUCT, [[3, I64, 0], [5, BINARY, plain], [6, BINARY, plain]]])
    return body, told


def equal_rows(data, values, rows, groups=1):
    """A table of the schema of another, of so many equal rows: in each of its columns one run.

    Columns have what `values` says by name; others, and lists, are empty.
    """
    _, footer = footer_of(data)
    body = MAGIC
    made = []
    each = rows // groups
    for _ in range(groups):
        chunks, begin = [], len(body)
        for leaf in leaves(get(footer, 2)[1]):
            value = values.get(leaf[0][0].decode()) if leaf[3] is None else None
            content, told = column(len(body), leaf, value, each)
            body += content
            chunks.append([[2, I64, 0], [3, STRUCT, told]])
        size = len(body) - begin
        made.append([[1, LIST, (STRUCT, chunks)], [2, I64, size], [3, I64, each], [5, I64, begin], [6, I64, size]])
    put(footer, 3, each * groups)
    put(footer, 4, (STRUCT, made))
    return with_footer(body, footer)


def columns_by_name(data):
    """The name and type of each column of a table that has rows."""
    _, footer = footer_of(data)
    return [(path[0].decode(), kind) for path, kind, _, _ in leaves(get(footer, 2)[1]) if get(footer, 3)]


def with_column(data, name, value):
    """The same table with one value in all rows of a column; in lists, as the only one."""
    body, footer = footer_of(data)
    all_leaves = leaves(get(footer, 2)[1])
    for group in get(footer, 4)[1]:
        for place, (leaf, chunk) in enumerate(zip(all_leaves, get(group, 1)[1])):
            if leaf[0][0].decode() == name:
                content, told = column(len(body), leaf, value, get(group, 3))
                body += content
                get(group, 1)[1][place] = [[2, I64, 0], [3, STRUCT, told]]
    return with_footer(body, footer)


def sign(trace):
    """Lets `run.json` say what the files of a trace are now."""
    path = trace / "run.json"
    run = json.loads(path.read_text())
    for file in run["files"]:
        content = (trace / file["path"]).read_bytes()
        file["bytes"], file["crc32"] = len(content), zlib.crc32(content)
    path.write_text(json.dumps(run))
