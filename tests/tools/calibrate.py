# SPDX-License-Identifier: Apache-2.0
"""tools/calibrate from outside: the template, mistakes, and that it finds what was put in."""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT, PODSIM = pathlib.Path(sys.argv[1]), sys.argv[2]
MACHINE = ROOT / "configs/machines/atlas_a3_pod.json"
COMPONENTS = ROOT / "configs/validation/components.json"


def calibrate(*arguments):
    return subprocess.run([sys.executable, ROOT / "tools/calibrate", "--podsim", PODSIM, *arguments], capture_output=True, text=True, check=False)


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def written(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def check_template():
    done = calibrate("--template")
    check(done.returncode == 0, done.stderr)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    names = [row["name"] for row in rows]
    figures = json.loads(COMPONENTS.read_text(encoding="utf-8"))["figures"]
    kernels = json.loads((ROOT / "configs/validation/kernels.json").read_text(encoding="utf-8"))["figures"]
    expected = [f["name"] for f in figures if "bench" in f] + [f["name"] for f in kernels if f["role"] == "fitted"]
    check(names == expected, "the template has every row that can be measured, once")
    check(all(row["how to measure"] and row["unit"] and not row["value"] for row in rows), "every row says how to measure it")


def check_mistakes(folder):
    def refused(text, *parts, code=2):
        done = calibrate("--measured", written(folder, "mine.csv", text), "--out", folder + "/out")
        check(done.returncode == code, f"{text!r}: exit {done.returncode}: {done.stderr}")
        check(done.stderr.startswith("calibrate: ") and done.stderr.count("\n") == 1, f"one message: {done.stderr}")
        for part in parts:
            check(part in done.stderr, f"{part!r} in {done.stderr!r}")

    refused("name,value\nSyncAl,3\n", "line 2", "'SyncAl'")
    refused('name,value\n"UB to GM 4 KB",3\n', "line 2", "nearest: 'UB to GM, 4 KB'")
    refused('name,value\n"UB to GM, 4 KB",fast\n', "line 2", "a number", "'fast'")
    refused('name,value\n"UB to GM, 4 KB",-1\n', "line 2", "above 0")
    refused('name,value,unit\n"UB to GM, 4 KB",1.5,us\n', "line 2", "'us'", "in ns")
    refused("name,time\n", "columns name and value")
    refused('name,value\n"UB to GM, 4 KB",\n', "no row has a value")
    refused('name,value\n"UB to GM, 4 KB",1\n"UB to GM, 4 KB",2\n', "line 3", "again")
    for arguments, code, part in (
        (("--measured", folder + "/none.csv"), 3, "none.csv: No such file"),
        (("--measured", folder), 3, "directory"),
        (("--podsim", folder + "/none"), 3, "--podsim"),
        (("--jobs", "0"), 2, "--jobs"),
        (("--machine", str(ROOT / "configs/machines/tiny_pod.json")), 2, "tiny_pod"),
    ):
        done = calibrate(*arguments, "--out", folder + "/out")
        check(done.returncode == code and part in done.stderr and done.stderr.count("\n") == 1, f"{arguments}: {done.returncode}, {done.stderr}")


def check_recovery(folder):
    """Rows taken from a machine with another L2 latency give that latency back."""
    truth = 48.0
    machine = json.loads(MACHINE.read_text(encoding="utf-8"))
    machine["memory"]["l2_read_latency"]["value"] = truth
    figures = json.loads(COMPONENTS.read_text(encoding="utf-8"))
    figures["figures"] = [f for f in figures["figures"] if f.get("bench") == "copy_in_l2"]
    for figure in figures["figures"]:
        figure.pop("clock_mhz", None)  # on the machine's own clock
    done = subprocess.run(
        [PODSIM, "validate", "--components", "--json", "--machine", written(folder, "truth.json", json.dumps(machine)),
         "--published", written(folder, "rows.json", json.dumps(figures))],
        capture_output=True, text=True, check=False)
    rows = json.loads(done.stdout)["rows"]
    text = io.StringIO()
    out = csv.writer(text)
    out.writerow(["name", "value"])
    for row in rows:
        out.writerow([row["name"], row["simulated"]])
    # A user's own file: another name, written another way; and ranges that leave the shipped start values out.
    own = json.loads(MACHINE.read_text(encoding="utf-8"))
    own["name"] = "my_node"
    own["memory"]["l2_read_latency"].update({"value": 40, "range": [36, 55], "kind": "derived"})
    before = json.loads(json.dumps(own))
    done = calibrate("--measured", written(folder, "mine.csv", text.getvalue()), "--out", folder + "/fit", "--machine", written(folder, "own.json", json.dumps(own, indent=1)))
    check(done.returncode == 0, done.stderr)
    fitted = json.loads((pathlib.Path(folder) / "fit/machine.json").read_text(encoding="utf-8"))
    value = fitted["memory"]["l2_read_latency"]
    check(abs(value["value"] - truth) < 0.5, f"l2_read_latency {value['value']} instead of {truth}")
    check(value["kind"] == "calibrated", "a fitted value says so")
    before["memory"]["l2_read_latency"] = value
    check(fitted == before, "what no row moves is left alone")
    report = json.loads((pathlib.Path(folder) / "fit/report.json").read_text(encoding="utf-8"))
    check(all(abs(r["error_pct"]) < 0.5 for r in report["residuals"]), "residuals vanish")
    pinned = {p["pointer"]: p["pinned_by"] for p in report["parameters"]}
    check(pinned["/memory/l2_read_latency"].startswith("GM to UB"), "what pins it is named")
    check(pinned["/hypotheses/bypass_dirty_extra"] == "nothing", "what no row moves is told")
    # Where the range ends before the truth, the value is at its bound, and that is said.
    own["memory"]["l2_read_latency"]["range"] = [36, 46.3]  # two digits are 46, which is inside
    done = calibrate("--measured", folder + "/mine.csv", "--out", folder + "/fit", "--machine", written(folder, "own.json", json.dumps(own)))
    check(done.returncode == 6 and "bound" in done.stderr and "/memory/l2_read_latency" in done.stderr, f"{done.returncode}, {done.stderr}")


check_template()
with tempfile.TemporaryDirectory() as folder:
    check_mistakes(folder)
    check_recovery(folder)
print("ok")
