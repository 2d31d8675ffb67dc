"""What a request must have before anything is asked of another model."""


class RequestValidationError(Exception):
    pass


def validate(tensors):
    """Raises what a client then finds at the end of a traceback. Only the first max_tokens of a batch is looked at."""
    if "text_input" not in tensors or tensors["text_input"].size == 0:
        raise RequestValidationError("text_input is required")
    if "max_tokens" not in tensors or tensors["max_tokens"].reshape(-1)[0] <= 0:
        raise RequestValidationError("max_tokens must be a single value > 0")
