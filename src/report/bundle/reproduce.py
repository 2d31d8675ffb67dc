#!/usr/bin/env python3
"""TITLE

Needs Python 3.9 or newer; for gRPC also tritonclient[grpc]. Asks the server, looks for the one symptom, and says

    reproduced        (exit code 1)
    not reproduced    (exit code 0)

Exit code 2: it could not be tried. `--judge FILE` looks at an answer that curl has stored, in place of asking.
"""

import argparse
import http.client
import json
import queue
import sys
import threading
import time
import urllib.request

CASE = json.loads(r"""CASE_JSON""")

WAIT_S = CASE["waitSeconds"]


class Answer:
    """What came back: events in their order, how it ended, and errors."""

    def __init__(self):
        self.events = []
        self.ending = "deadline"
        self.errors = []

    def add(self, **event):
        self.events.append(event)

    def data(self):
        return [e for e in self.events if e.get("data") and not e.get("role")]

    def text(self):
        return "".join(e.get("text", "") for e in self.events)

    def ids(self):
        return [i for e in self.events for i in e.get("ids", [])]

    def usage(self):
        told = [e["usage"] for e in self.events if e.get("usage")]
        if told:
            return told[-1]
        counts = [e["counts"] for e in self.data() if "counts" in e]
        return [counts[0][0], sum(c[1] for c in counts)] if counts else None


# Asking


def ask_grpc(address, request, cancel, begun):
    import numpy
    import tritonclient.grpc as triton
    from tritonclient.utils import triton_to_np_dtype

    answer = Answer()
    told = queue.Queue()

    def tensor(given):
        kind = given["datatype"]
        values = [v.encode() for v in given["data"]] if kind == "BYTES" else given["data"]
        array = numpy.array(values, dtype=numpy.object_ if kind == "BYTES" else triton_to_np_dtype(kind))
        made = triton.InferInput(given["name"], given["shape"], kind)
        made.set_data_from_numpy(array.reshape(given["shape"]))
        return made

    def read(result):
        response = result.get_response()
        outputs = {o.name: result.as_numpy(o.name) for o in response.outputs}
        final = response.parameters["triton_final_response"].bool_param if "triton_final_response" in response.parameters else False
        event = {"data": bool(outputs), "final": final or not request["stream"], "id": response.id}
        length = outputs.get("sequence_length")
        if "output_ids" in outputs:
            event["ids"] = [int(i) for i in outputs["output_ids"].reshape(-1)]
        if length is not None:
            event["length"] = int(length.reshape(-1)[0])
        if "text_output" in outputs:
            event["text"] = "".join(t.decode() if isinstance(t, bytes) else str(t) for t in outputs["text_output"].reshape(-1))
        if "output_log_probs" in outputs:
            event["logProbs"] = [float(p) for p in outputs["output_log_probs"].reshape(-1)]
        if "num_input_tokens" in outputs and "num_output_tokens" in outputs:
            event["counts"] = [int(outputs[n].reshape(-1)[0]) for n in ("num_input_tokens", "num_output_tokens")]
        if "finish_reason" in outputs:
            reason = outputs["finish_reason"].reshape(-1)[0]
            event["finish"] = reason.decode() if isinstance(reason, bytes) else str(reason)
        return event

    client = triton.InferenceServerClient(address)
    inputs = [tensor(t) for t in request["inputs"]]
    if not request["stream"]:
        try:
            answer.add(**read(client.infer(request["model"], inputs, request_id=request["id"], client_timeout=WAIT_S)))
            answer.ending = "complete"
        except Exception as error:
            answer.errors.append(str(error))
            answer.ending = "broken"
        return answer
    timeout = cancel["ms"] / 1000 if cancel and cancel["how"] == "deadline" else None
    client.start_stream(lambda result, error: (begun(), told.put((result, error))), stream_timeout=timeout)
    client.async_stream_infer(request["model"], inputs, request_id=request["id"], enable_empty_final_response=True)
    leave_after = cancel["afterEvents"] if cancel and cancel["how"] == "leave" else None
    if leave_after == 0:
        time.sleep(0.005)
        client.stop_stream(cancel_requests=True)
        answer.ending = "cancelled"
        return answer
    # Without a client to say more, the server ends the stream when it has said everything.
    ended = threading.Event()
    if leave_after is None:
        threading.Thread(target=lambda: (client.stop_stream(), ended.set()), daemon=True).start()
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        try:
            result, error = told.get(timeout=0.02)
        except queue.Empty:
            if ended.is_set() and told.empty():
                answer.ending = "complete" if not answer.errors else "broken"
                break
            continue
        if error is not None:
            answer.errors.append(str(error))
            if leave_after is not None:
                break
            continue
        answer.add(**read(result))
        if leave_after is not None and len(answer.data()) >= leave_after:
            client.stop_stream(cancel_requests=True)
            answer.ending = "cancelled"
            break
    return answer


def read_http(payload, answer):
    """One JSON object of generate or of the OpenAI front end."""
    if "error" in payload or "detail" in payload:
        answer.errors.append(json.dumps(payload))
        return
    event = {"data": True, "id": payload.get("id")}
    if "text_output" in payload:
        event["text"] = payload["text_output"]
        if isinstance(payload.get("output_log_probs"), list):
            event["logProbs"] = payload["output_log_probs"]
        if "num_input_tokens" in payload and "num_output_tokens" in payload:
            event["counts"] = [payload["num_input_tokens"], payload["num_output_tokens"]]
    if "output_ids" in payload:
        ids = payload["output_ids"]
        event["ids"] = ids if isinstance(ids, list) else [ids]
        event["length"] = payload.get("sequence_length")
    choices = payload.get("choices")
    if choices is not None:
        event["data"] = len(choices) > 0
    for choice in choices or []:
        part = choice.get("delta") or choice.get("message") or choice
        event["text"] = part.get("content") or part.get("text") or ""
        event["namesRole"] = bool("delta" in choice and choice["delta"].get("role"))
        event["role"] = event["namesRole"] and not event["text"] and not choice.get("finish_reason")
        if choice.get("finish_reason"):
            event["finish"] = choice["finish_reason"]
    if payload.get("usage"):
        event["usage"] = [payload["usage"]["prompt_tokens"], payload["usage"]["completion_tokens"]]
    answer.add(**event)


def read_body(text, stream, answer):
    if not stream:
        if text.strip():
            read_http(json.loads(text), answer)
        return
    for line in text.splitlines():
        if not line.startswith("data:"):
            if line.startswith("{"):
                read_http(json.loads(line), answer)
            continue
        data = line[5:].strip()
        if data == "[DONE]":
            answer.add(done=True)
        elif data:
            read_http(json.loads(data), answer)


def ask_http(address, request, cancel, begun):
    answer = Answer()
    connection = http.client.HTTPConnection(address, timeout=WAIT_S)
    body = b""
    events = 0
    try:
        connection.request(request["method"], request["path"], request["body"].encode(), {"content-type": "application/json"})
        response = connection.getresponse()
        while True:
            part = response.read1(65536)
            begun()
            body += part
            events += part.count(b"data:")
            if cancel and cancel["how"] == "leave" and events >= cancel["afterEvents"]:
                answer.ending = "cancelled"
                break
            if not part:
                answer.ending = "complete"
                break
        if response.status >= 400:
            answer.errors.append(f"HTTP {response.status}")
    except http.client.IncompleteRead as error:
        body += error.partial
        answer.ending = "broken"
    except TimeoutError:
        answer.ending = "deadline"
    except OSError as error:
        answer.ending = "broken"
        answer.errors.append(str(error))
    finally:
        connection.close()
    read_body(body.decode(errors="replace"), request["stream"], answer)
    return answer


def ask(where, request, cancel=None, begun=lambda: None):
    send = ask_grpc if request["port"] == "grpc" else ask_http
    return send(where[request["port"]], request, cancel, begun)


def amid(where):
    """What has to come before the request and beside it, and then the request."""
    for one in CASE["before"]:
        ask(where, one["request"], one["cancel"])
    begun = [threading.Event() for _ in CASE["beside"]]
    others = [
        threading.Thread(target=ask, args=(where, one["request"], one["cancel"], begun[i].set), daemon=True)
        for i, one in enumerate(CASE["beside"])
    ]
    for thread in others:
        thread.start()
    # The request is to find its neighbours at work.
    for event in begun:
        event.wait(1)
    answer = ask(where, CASE["request"], CASE["cancel"])
    for thread in others:
        thread.join(WAIT_S)
    return answer


# Looking for the symptom: each gives what is wrong, or None


def value_is_wrong(name, value):
    if "wrong" in CASE:
        return f"{name} is {value!r}, as it was" if value in CASE["wrong"] else None
    return None if value in CASE["right"] else f"{name} is {value!r}, right is {CASE['right'][0]!r}"


def check_text(answer):
    return value_is_wrong("the text", answer.text())


def check_ids(answer):
    return value_is_wrong("output_ids", answer.ids())


def check_parts(answer):
    return value_is_wrong("the list of texts", [e.get("text", "") for e in answer.data()])


def check_finish(answer):
    return value_is_wrong("finish_reason", [e["finish"] for e in answer.events if e.get("finish")])


def check_usage(answer):
    return value_is_wrong("usage (prompt, answer)", answer.usage())


def check_answer(answer):
    if answer.errors:
        return f"an error in place of an answer: {answer.errors[0]}"
    if answer.ending != "complete":
        return f"the answer did not end in order ({answer.ending}) after {len(answer.events)} events"
    return None if answer.data() else "the exchange ended in order, without any data"


def check_ending(answer):
    return None if answer.ending == "complete" else f"the response did not end as its framing says ({answer.ending}), after {len(answer.events)} events"


def check_finals(answer):
    flags = [bool(e.get("final")) for e in answer.events]
    if flags.count(True) == 1 and flags[-1]:
        return None
    return f"triton_final_response is true on {flags.count(True)} of {len(flags)} responses, and on the last one: {bool(flags and flags[-1])}"


def check_done(answer):
    n = sum(1 for e in answer.events if e.get("done"))
    return None if n == 1 and answer.events[-1].get("done") else f"{n} [DONE] in {len(answer.events)} events"


def check_role(answer):
    named = [bool(e.get("namesRole")) for e in answer.events]
    return None if named.count(True) == 1 and named[0] else f"{named.count(True)} events name the role, the first one does: {bool(named and named[0])}"


def check_lengths(answer):
    for i, e in enumerate(answer.data()):
        if e.get("length") != len(e.get("ids", [])):
            return f"response {i} says sequence_length {e.get('length')} and carries {len(e.get('ids', []))} ids"
    return None


def check_empty(answer):
    empty = [i for i, e in enumerate(answer.data()) if not e.get("ids") and not e.get("text")]
    return None if len(empty) <= CASE["right"][0] else f"{len(empty)} events carry nothing, at most {CASE['right'][0]} may"


def check_log_probs(answer):
    values = [p for e in answer.events for p in e.get("logProbs", [])]
    if "wrong" in CASE:
        return value_is_wrong("the list of log-probabilities", values)
    right = CASE["right"][0]
    if len(values) != len(right):
        return f"{len(values)} log-probabilities came, right are {len(right)}"
    far = [(i, v, r) for i, (v, r) in enumerate(zip(values, right)) if not abs(v - r) <= 0.2]
    if far:
        return f"the log-probability of token {far[0][0]} is {far[0][1]}, right is {far[0][2]}"
    return "all log-probabilities are 0" if len(values) > 0 and all(v == 0 for v in values) and any(r != 0 for r in right) else None


def check_echo(answer):
    foreign = [e.get("id") for e in answer.events if not e.get("done") and e.get("id") != CASE["request"]["id"]]
    return f"responses carry the id {foreign[0]!r}, the request had {CASE['request']['id']!r}" if foreign else None


def gauge(where, family, label, value):
    with urllib.request.urlopen(f"http://{where['metrics']}/metrics", timeout=WAIT_S) as page:
        for line in page.read().decode().splitlines():
            if line.startswith(family + "{") and f'{label}="{value}"' in line:
                return float(line.rsplit(" ", 1)[1])
    raise SystemExit(f"the metrics have no {family} with {label}={value}")


def state(where):
    return {
        "active": gauge(where, "nv_trt_llm_request_metrics", "request_type", "active"),
        "waiting": gauge(where, "nv_trt_llm_request_metrics", "request_type", "waiting"),
        "used": gauge(where, "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "used"),
        "steps": gauge(where, "nv_trt_llm_general_metrics", "general_type", "iteration_counter"),
    }


def idle(where):
    """The gauges once nothing runs, told twice in the same words."""
    last, until = None, time.monotonic() + WAIT_S
    while time.monotonic() < until:
        now = state(where)
        if now["active"] == 0 and now["waiting"] == 0 and now == last:
            return now
        last = now
        time.sleep(0.25)
    raise SystemExit("the engine did not become idle")


def look(where):
    kind = CASE["check"]
    if kind in ("held", "ran-on"):
        start = idle(where)
        answer = amid(where)
        end = idle(where)
        if kind == "held":
            held = end["used"] - start["used"]
            return f"{held:.0f} KV blocks are still in use with nothing running" if held > 0 else None
        steps = end["steps"] - start["steps"]
        asked = CASE["right"][0]
        return f"the client left, and the engine made {steps:.0f} steps for {asked} tokens" if answer.ending == "cancelled" and steps >= asked * 0.9 - 1 else None
    if kind == "cold":
        cold, warm = ask(where, CASE["request"]), ask(where, CASE["request"])
        if cold.ids() != warm.ids():
            return f"the first call gave {cold.ids()}, the second {warm.ids()}"
        first, second = ([p for e in a.events for p in e.get("logProbs", [])] for a in (cold, warm))
        gap = max((abs(a - b) for a, b in zip(first, second)), default=0)
        return f"log-probabilities of the first call and the second differ by {gap:.2g}" if gap > 2e-5 else None
    if kind == "same":
        what, times = CASE["right"]
        seen = []
        for _ in range(times):
            answer = ask(where, CASE["request"], CASE["cancel"])
            value = answer.ids() if what == "ids" else answer.text()
            if value not in seen:
                seen.append(value)
        return f"{times} equal requests got {len(seen)} different answers: {seen}" if len(seen) > 1 else None
    if kind == "dead":
        try:
            amid(where)
        except Exception:
            pass
        time.sleep(1)
        try:
            urllib.request.urlopen(f"http://{where['http']}/v2/health/live", timeout=5)
            return None
        except OSError as error:
            return f"the server answers no more: {error}"
    return CHECKS[kind](amid(where))


CHECKS = {
    "text": check_text,
    "ids": check_ids,
    "parts": check_parts,
    "finish": check_finish,
    "usage": check_usage,
    "answer": check_answer,
    "ending": check_ending,
    "finals": check_finals,
    "done": check_done,
    "role": check_role,
    "lengths": check_lengths,
    "empty": check_empty,
    "log-probs": check_log_probs,
    "echo": check_echo,
}


def judge(path, curl_code):
    answer = Answer()
    answer.ending = "complete" if curl_code == 0 else "broken"
    with open(path, encoding="utf-8", errors="replace") as stored:
        read_body(stored.read(), CASE["request"]["stream"], answer)
    return CHECKS[CASE["check"]](answer)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, port in (("grpc", 8001), ("http", 8000), ("openai", 9000), ("metrics", 8002)):
        options.add_argument(f"--{name}", default=f"localhost:{port}", metavar="HOST:PORT")
    options.add_argument("--tries", type=int, default=CASE["tries"], help="the symptom may not show every time")
    options.add_argument("--judge", metavar="FILE", help="an answer that curl has stored")
    options.add_argument("--curl-exit", type=int, default=0, help="curl's exit code")
    given = options.parse_args()
    where = {name: getattr(given, name) for name in ("grpc", "http", "openai", "metrics")}
    for _ in range(1 if given.judge else given.tries):
        wrong = judge(given.judge, given.curl_exit) if given.judge else look(where)
        if wrong:
            print(f"reproduced: {CASE['law']}: {wrong}")
            return 1
    print(f"not reproduced: {CASE['law']} was not seen to be broken")
    return 0


if __name__ == "__main__":
    try:
        code = main()
    except Exception as error:
        print(f"could not be tried: {type(error).__name__}: {error}", file=sys.stderr)
        code = 2
    sys.stdout.flush()
    # Threads of a server that never answers must not keep this process.
    import os

    os._exit(code)
