"""Forged networks, and forged values in the tables of a trace: small inputs that ask for much, or for what is not there."""
import math
import shutil

import forged
from reading_bench import Attack, MOST_RESIDENT, remove, shown, signed

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
TAIL = "</platform>\n"
# What a trace of some kilobytes may become in another format.
MOST_WRITTEN = 64 << 20
ONE_LINK = '<link id="l" bandwidth="1GBps" latency="1us"/>'
ROUTE = '<route src="a" dst="b"><link_ctn id="l"/></route>'

SHORT_FORMS = [
    "", "flat", "flat:", "flat:0", "flat:-1", "flat:2147483648", "flat:4294967296", "flat:18446744073709551615", "flat:1e9", "flat:4194304",
    "torus:" + "x".join(["1"] * 60_000), "torus:4294967296x4294967296", "torus:65536x65536", "torus:0x4", "torus:2x" + "1x" * 30_000 + "2",
    "fat-tree:4194304x4194304", "fat-tree:1x4,18446744073709551615:1", "fat-tree:1x4,1:18446744073709551615", "fat-tree:0x0,0:0",
    "fat-tree:30000;" + ";".join([",".join(["1"] * 20_000)] * 3), "fat-tree:1;4;1;4294967295", "fat-tree:;;;",
    "dragonfly:2048x2048x1", "dragonfly:1x4194304x1", "dragonfly:8,18446744073709551615;4,1;8,1;4", "dragonfly:4294967296,1;1,1;4294967296,1;1",
    "flat:8,bw=nanGBps", "flat:8,bw=-1GBps", "flat:8,bw=0GBps", "flat:8,bw=1e308GBps", "flat:8,bw=1e-300Bps", "flat:8,lat=infs",
    "flat:8,lat=-1s", "flat:8,lat=1e300s", "flat:8,lat=nans", "flat:8,bw=", "flat:8,duplex=both", "flat:8" + ",lat=1us" * 15_000,
]


def cluster(attributes="", radical="0-7", prefix="n", bandwidth="1GBps", latency="1us"):
    return (f'{HEAD}<cluster id="c" prefix="{prefix}" suffix="" radical="{radical}" speed="1Gf" bw="{bandwidth}" lat="{latency}" '
            f"{attributes}/>{TAIL}")


def zone(content, routing="Full"):
    return f'{HEAD}<zone id="z" routing="{routing}">{content}</zone>{TAIL}'


def topology(kind, parameters, radical="0-7"):
    return cluster(f'topology="{kind}" topo_parameters="{parameters}"', radical)


def entities(levels):
    """One entity that stands for ten of the one before it, and so on."""
    declared = "".join(f'<!ENTITY e{level + 1} "{f"&e{level};" * 10}">' for level in range(levels))
    return (f'<?xml version="1.0"?><!DOCTYPE platform [<!ENTITY e0 "aaaaaaaaaa">{declared}]><platform version="4.1">'
            f'<zone id="&e{levels};" routing="Full"/></platform>')


def files(many):
    """Names and contents of platform files; `many` says how large those are that try by size."""
    hosts = '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>'
    ones = ",".join(["1"] * many)
    yield "nothing", ""
    yield "no XML", "\0" * 100_000
    yield "cut off", f'{HEAD}<zone id="a" routing="Full"><host id="'
    yield "no network", HEAD + TAIL
    yield "another root", "<a/>"
    yield "deep", HEAD + '<zone id="a" routing="Full">' * many + "</zone>" * many + TAIL
    yield "deep and not closed", HEAD + "<a>" * many
    yield "attributes", f'{HEAD}<zone id="a" routing="Full" {" ".join(f"a{number}={chr(34)}x{chr(34)}" for number in range(many))}/>{TAIL}'
    yield "the same attribute twice", cluster('radical="0-3"')
    yield "namespaces", HEAD + "".join(f'<zone xmlns:n{number}="u">' for number in range(many)) + "</zone>" * many + TAIL
    yield "entities of entities", entities(9)
    yield "an entity of itself", '<!DOCTYPE platform [<!ENTITY a "&a;">]><platform><zone id="&a;"/></platform>'
    yield "an entity of a file", '<!DOCTYPE platform [<!ENTITY a SYSTEM "file:///etc/hostname">]><platform><zone id="&a;"/></platform>'
    yield "an included file", f'{HEAD}<include file="/etc/passwd"/>{TAIL}'
    yield "a long comment", f"{HEAD}<!-- {'= ' * many}-->{TAIL}"
    yield "a long name", cluster(prefix="n" * many)
    yield "escapes in names", cluster('topology="&#27;[5m"', prefix="&#27;]0;x&#7;")
    for radical in ("0-2000000000", "0-4294967296", "0-18446744073709551615", "18446744073709551615-5", "-1", "0--1", "5-3", "", ",", "0-0",
                    "0-4194303", ",".join(["0-4000000"] * 2000), ",".join(["0-18446744073709551615"] * 8 + ["0-3"]), ",".join(["0"] * many)):
        yield f"radical {radical[:24]}", cluster(radical=radical)
    for parameters in ("4294967295,4294967295,4294967295", "0,4", "-2,-4", "2147483648,2", "", ",", "2,2,2" + ",1" * many, "1e3,8", "4194304"):
        yield f"torus {parameters[:24]}", topology("TORUS", parameters)
    for parameters in ("20;4,4,4,4;1,1;1,1", f"{many};{ones};{ones};{ones}", "1;8;1;1000000000", "1;8;1000000000;1", "2;4,2;0,0;1,1",
                       "2;4,2;1,4294967296;1,4294967296", ";;;", "-1;8;1;1"):
        yield f"fat-tree {parameters[:24]}", topology("FAT_TREE", parameters)
    for parameters in ("2,1;1,1;2,1;2", "4294967296,1;1,1;4294967296,1;1", "8,18446744073709551615;1,1;8,1;1", "1,0;1,0;1,0;8", "2048,1;1,1;2048,1;1"):
        yield f"dragonfly {parameters[:24]}", topology("DRAGONFLY", parameters)
    yield "an unknown topology", topology("VIVALDI", "1")
    for bandwidth in ("0GBps", "-1GBps", "nanGBps", "infGBps", "1e308GBps", "1e-320Bps", "", "GBps", "1"):
        yield f"bandwidth {bandwidth}", cluster(bandwidth=bandwidth)
    for latency in ("-1us", "nanus", "infus", "1e300s", "", "0us"):
        yield f"latency {latency}", cluster(latency=latency)
    yield "speed that is none", cluster().replace("1Gf", "nanGf")
    yield "no speed", cluster().replace("1Gf", "0Gf")
    yield "more cores than memory", cluster('core="2147483647"')
    yield "no hosts", zone(ONE_LINK)
    yield "hosts of one name", zone('<host id="a" speed="1Gf"/>' * 2)
    yield "links of one name", zone(hosts + ONE_LINK * 2 + ROUTE)
    yield "a route to nowhere", zone(hosts + ONE_LINK + ROUTE.replace('dst="b"', 'dst="x"'))
    yield "a route of no link", zone(hosts + ONE_LINK + ROUTE.replace('id="l"', 'id="x"'))
    yield "an empty route", zone(hosts + ONE_LINK + '<route src="a" dst="b"/>')
    yield "a route to itself", zone(hosts + ONE_LINK + ROUTE + '<route src="a" dst="a"><link_ctn id="l"/></route>')
    yield "no route", zone(hosts + ONE_LINK)
    yield "one route many times", zone(hosts + ONE_LINK + ROUTE * (many // 20))
    yield "a route of many links", zone(hosts + ONE_LINK + ROUTE.replace("</route>", '<link_ctn id="l"/>' * many + "</route>"))
    yield "many hosts without routes", zone("".join(f'<host id="h{number}" speed="1Gf"/>' for number in range(many)))
    yield "many hosts, all routes", zone("".join(f'<host id="h{number}" speed="1Gf"/>' for number in range(many)), "Floyd")
    yield "many links without latency", zone(hosts + "".join(f'<link id="l{number}" bandwidth="1GBps"/>' for number in range(many)))
    yield "many clusters", HEAD + '<zone id="z" routing="Full">' + "".join(
        f'<cluster id="c{number}" prefix="c{number}-" suffix="" radical="0-100000" speed="1Gf" bw="1GBps" lat="1us"/>' for number in range(50)) + "</zone>" + TAIL
    yield "a cabinet", zone('<cabinet id="c" prefix="n" suffix="" radical="0-2000000000" speed="1Gf" bw="1GBps" lat="1us"/>', "Cluster")
    yield "a profile in a file", zone(hosts.replace("speed", 'speed_file="/etc/passwd" speed') + ONE_LINK + ROUTE)
    yield "a setting that writes", cluster().replace("<cluster", '<config id="General"><prop id="tracing" value="yes"/>'
                                                     '<prop id="tracing/filename" value="WRITTEN"/></config><cluster')
    yield "a setting of a folder", cluster().replace("<cluster", '<config id="General"><prop id="smpi/tmpdir" value="WRITTEN"/></config><cluster')


def platforms(bench):
    """Networks that ask for much, and traces whose values are not those of a run."""
    return [platform_files(bench), forged_values(bench)]


def simulator(bench, attack):
    """Whether runs can be simulated here."""
    told = bench.do(bench.kizami, "simgrid", bench.sealed, "--platform", "flat:8")
    if told.code == 0:
        return True
    attack.note(f"without simulations: {told.err.decode(errors='replace').strip().splitlines()[-1][:120]}")
    return False


def attempt(bench, attack, what, words, keep):
    """One command; it ends in time, in words or with an answer, and takes no more memory than its input warrants."""
    ended = bench.do(bench.kizami, *words)
    attack.answered = getattr(attack, "answered", 0) + (ended.code == 0)
    wrong = ended.wrong()
    if not wrong and ended.resident > MOST_RESIDENT:
        wrong = f"took {ended.resident >> 20} MiB"
    attack.case(wrong and f"{what}, {words[0]}: {wrong}", shown(["kizami", *words])[:600], keep if wrong else [])
    return ended


def platform_files(bench):
    attack = Attack("platforms files", "files and short forms of networks that ask for much or make no sense", bench.options)
    simulates = simulator(bench, attack)
    folder = bench.scratch / "networks"
    folder.mkdir()
    written = folder / "WRITTEN"
    tried = [(name, None, text) for name, text in files(bench.options.count(200_000, 20_000 if bench.options.gate else 60_000))]
    tried += [(f"short form {form[:32]}", form, None) for form in SHORT_FORMS]
    for number, (name, form, text) in enumerate(tried):
        path = folder / f"{number}.xml"
        if text is not None:
            path.write_text(text.replace("WRITTEN", str(written)))
        network = form if form is not None else path
        commands = [["platform", network], ["platform", network, "--halo", "1M", "--ranks", "8"],
                    ["replay", bench.sealed, "--platform", network], ["predict", bench.sealed, "--platform", network, "--network", "phases"]]
        if simulates:
            commands.append(["simgrid", bench.sealed, "--platform", network])
        if bench.options.gate:
            # The first says most; of the others one.
            commands = [commands[0], bench.chance.choice(commands[1:])]
        for words in commands:
            attempt(bench, attack, name, words, [path] if form is None else [])
            if written.exists():
                attack.case(f"{name}, {words[0]}: wrote to a file that the network named", shown(["kizami", *words]), [path])
                remove(written)
        remove(path)
    if simulates:
        hosts = folder / "hosts"
        for text in ("n-0:18446744073709551615\n", "n-0:0\n", "", "n-0:-1\n" * 10_000, "x:1\n", ":\n:\n"):
            hosts.write_text(text)
            attempt(bench, attack, f"hosts {text[:24]!r}", ["simgrid", bench.sealed, "--platform", "flat:8", "--hostfile", hosts], [hosts])
    shutil.rmtree(folder)
    attack.note(f"{attack.answered} were answered, the others refused")
    return attack.end()


VALUES = {
    forged.INT32: [(1 << 31) - 1, 1 << 30, 1_000_000, 3, -1, -4, -(1 << 31)],
    forged.INT64: [(1 << 63) - 1, 1 << 62, 1 << 32, 1 << 31, 0, -1, -(1 << 63)],
    forged.REAL64: [math.nan, math.inf, -math.inf, 1e308, 0.0, -1.0],
    forged.BYTES: ["", "MPI_Send", "MPI_Alltoallv", "MPI_Comm_dup", "x" * 100_000, "\x1b]0;x\x07", "split", "window"],
    forged.BOOLEAN: [True, False],
}


def value_commands(trace, out, simulates):
    yield ["info", trace]
    yield ["events", trace, "--limit", "5"]
    yield ["report", trace]
    yield ["replay", trace, "--platform", "flat:8"]
    yield ["replay", trace, "--network", "ideal", "-o", out / "replayed.kz"]
    yield ["predict", trace, "--platform", "torus:2x2x2", "--network", "phases"]
    yield ["whatif", trace]
    yield ["view", trace, "--png", out / "view.png"]
    for form in ("csv", "otf2", "perfetto"):
        yield ["export", trace, "--to", form, "-o", out / f"run-{form}"]
    if simulates:
        yield ["simgrid", trace, "--platform", "flat:8", "-o", out / "simulated.kz"]


def forged_values(bench):
    """Each column of each table, all of it one value that no run has."""
    attack = Attack("platforms values", "columns of a trace's tables with values that no run has", bench.options)
    simulates = simulator(bench, attack)
    tables = sorted(path.relative_to(bench.sealed) for path in bench.sealed.rglob("*.parquet") if "derived" not in path.parts)
    all_cases = [(table, name, value) for table in tables
                 for name, kind in dict(forged.columns_by_name((bench.sealed / table).read_bytes())).items() for value in VALUES[kind]]
    # Rows tell most: each of their columns is tried in any case.
    rows = [case for case in all_cases if case[0].parts[0] == "events"]
    others = [case for case in all_cases if case[0].parts[0] != "events"]
    chosen = all_cases if not bench.options.small else \
        bench.chance.sample(rows, min(len(rows), 12 if bench.options.gate else 60)) + bench.chance.sample(others, 8 if bench.options.gate else 40)
    out = bench.scratch / "values-out"
    for table, name, value in chosen:
        trace = bench.copy(bench.sealed, bench.scratch / "values.kz")
        path = trace / table
        path.write_bytes(forged.with_column(path.read_bytes(), name, value))
        signed(trace)
        commands = list(value_commands(trace, out, simulates))
        for words in bench.chance.sample(commands, 3) if bench.options.gate else commands:
            remove(out)
            out.mkdir()
            attempt(bench, attack, f"{table} with {name} {str(value)[:24]!r}", words, [trace])
            shutil.rmtree(trace / "derived", ignore_errors=True)
            size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
            if size > MOST_WRITTEN:
                attack.case(f"{table} with {name} {str(value)[:24]!r}, {words[0]}: wrote {size >> 20} MiB", shown(["kizami", *words]), [trace])
    attack.note(f"{attack.answered} were answered, the others refused")
    return attack.end()
