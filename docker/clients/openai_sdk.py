"""The openai package for Python: models, completions and chat, whole and streamed, some streams closed early."""

import json

import openai
from job import read_job, tell, tell_error


def models(client, step):
    tell(step, "result", result=[model.model_dump(mode="json") for model in client.models.list()])


def ask(client, step, endpoint, body, cancel_after):
    create = client.chat.completions.create if endpoint == "chat" else client.completions.create
    # The server knows members that the package has no argument for.
    known = {name: body[name] for name in ("model", "prompt", "messages", "max_tokens", "stream", "stream_options") if name in body}
    tell(step, "sent")
    given = create(**known, extra_body={name: value for name, value in body.items() if name not in known})
    if not body.get("stream"):
        tell(step, "response", payload=given.model_dump(mode="json"))
        return tell(step, "end", ending="complete")
    seen = 0
    with given as chunks:
        for chunk in chunks:
            tell(step, "response", payload=chunk.model_dump(mode="json"))
            seen += 1
            if seen == cancel_after:
                return tell(step, "end", ending="cancelled")
    tell(step, "end", ending="complete")


OPERATIONS = {"models": models, "ask": ask}

job = read_job()
with openai.OpenAI(base_url=f"{job['url']}/v1", api_key="none", max_retries=0, timeout=30) as client:
    for number, step in enumerate(job["steps"]):
        operation = OPERATIONS[step.pop("operation")]
        try:
            operation(client, number, **step)
        except openai.OpenAIError as error:
            # The text of the exception leaves out what the server said.
            tell_error(number, error, detail=json.dumps(getattr(error, "body", None)))
