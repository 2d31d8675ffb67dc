"""Write oracle/tiny/beams.json: beams of Hugging Face's own search, in float64 throughout.

    python beams.py

Sixteen prompts of the greedy oracle, every setting of `SETTINGS`. TensorRT-LLM's search was modelled on this one. A case
is left out when two of its scores are so close that another order of sums may change their places.
"""
import json
from importlib.metadata import version
from pathlib import Path

import torch
from transformers.generation import utils

from oracle import load64

HERE = Path(__file__).resolve().parent / "oracle" / "tiny"
EOS, PAD = 1, 2
MAX_NEW = 24
PROMPTS = 16
SETTINGS = [
    {"beamWidth": width, "lengthPenalty": penalty, "earlyStopping": early}
    for width, penalty, early in ((2, 0.0, True), (3, 1.0, True), (4, 0.0, True), (4, 2.0, True), (3, 1.0, False), (4, 0.0, False))
]
TOO_CLOSE = 1e-5


class Double:
    """`torch` for the search: what it would make in float32 is made in float64."""

    float32 = float = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@torch.inference_mode()
def search(model, ids, setting):
    """Answers without EOS and padding, best first, their scores, and whether EOS ended them."""
    out = model.generate(
        torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), max_new_tokens=MAX_NEW, do_sample=False,
        num_beams=setting["beamWidth"], num_return_sequences=setting["beamWidth"], length_penalty=setting["lengthPenalty"],
        early_stopping=setting["earlyStopping"], eos_token_id=EOS, pad_token_id=PAD, use_cache=False,
        output_scores=True, return_dict_in_generate=True)
    answers = [row[len(ids):].tolist() for row in out.sequences]
    told = [a[:a.index(EOS)] if EOS in a else [t for t in a if t != PAD] for a in answers]
    return told, out.sequences_scores.tolist(), [EOS in a for a in answers]


def main():
    torch.set_num_threads(1)
    utils.torch = Double()
    torch.cuda.is_current_stream_capturing = lambda: False  # without a GPU the question itself crashes some builds
    model = load64(HERE.parent.parent / "tiny")
    greedy = json.loads((HERE / "greedy.json").read_text("utf-8"))
    prompts = [c for c in greedy["cases"] if c["outputIds"]]
    prompts = prompts[:: len(prompts) // PROMPTS][:PROMPTS]
    cases, close = [], 0
    for setting in SETTINGS:
        for prompt in prompts:
            beams, scores, ended = search(model, prompt["promptIds"], setting)
            if min(a - b for a, b in zip(scores, scores[1:])) < TOO_CLOSE:
                close += 1
                continue
            cases.append({"promptIds": prompt["promptIds"], **setting, "beams": beams, "scores": scores, "endedByEos": ended})
    print(len(cases), "cases", close, "too close")
    head = {"about": "transformers beam search, float64 throughout, no cache; beams leave out EOS, scores have it",
            "versions": {n: version(n) for n in ("torch", "transformers")}, "sha256": greedy["sha256"], "maxTokens": MAX_NEW}
    head = json.dumps(head, ensure_ascii=False, indent=2)[:-2]
    rows = ",\n    ".join(json.dumps(c, separators=(",", ":")) for c in cases)
    (HERE / "beams.json").write_text(f'{head},\n  "cases": [\n    {rows}\n  ]\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
