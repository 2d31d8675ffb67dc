/** In what the embedded server is known to differ from a real one, and why it stays so. */
export interface Difference {
  readonly where: 'core' | 'grpc' | 'http' | 'openai' | 'models' | 'engine' | 'metrics';
  readonly real: string;
  readonly embedded: string;
  readonly reason: string;
}

export const DIFFERENCES: readonly Difference[] = [
  {
    where: 'core',
    real: '/config lists the pinned-memory keys of `optimization` before gather_kernel_buffer_threshold, and maps in no stable order',
    embedded: 'keys in the order of the message, maps sorted',
    reason: 'JSON objects have no order; nobody can rely on it',
  },
  {
    where: 'core',
    real: 'dynamic batching, queue policies, sequence batching, rate limiter and several instances are honoured',
    embedded: 'one instance, no batching by the core, whatever the configuration says',
    reason: 'the launch profile of determinism switches all of them off; the audit of configurations is where they belong',
  },
  {
    where: 'core',
    real: '`file:` parameters of a load replace files of the model',
    embedded: 'refused where a real one refuses them, otherwise accepted, without effect',
    reason: 'the models are part of the program',
  },
  {
    where: 'core',
    real: 'a batch of none is refused by byte size, a mismatch of batch sizes names the input that the server came to last',
    embedded: 'refused too; the text may name another input',
    reason: 'the order in which a real server walks its inputs varies between runs',
  },
  {
    where: 'core',
    real: 'several releases crash on a 4 MiB form body, on `triton_grpc_error` and on a cancel in the moment of completion',
    embedded: 'answers safely: 400 to the body, the status of the error on the stream, the cancel as at any other time',
    reason: 'a server that dies is shown by faults, on purpose and one at a time',
  },
  {
    where: 'core',
    real: 'told to end, it answers gRPC to the last, starts no step of a running ensemble any more, and gives up with code 1 after --exit-timeout-secs',
    embedded: 'refuses new calls on every port, lets what runs end for a second, ensembles too, cuts the rest; code 0',
    reason: 'an ensemble that never ends is shown to nobody on purpose; Ctrl-C is how `lockstep serve` ends',
  },
  {
    where: 'core',
    real: 'as 2.45 to 2.48: now and then a gRPC stream is not ended, and (2.47, 2.48) a BYTES element past its end kills the Python process',
    embedded: '`--profile core=…` ends every stream, and refuses the element',
    reason: 'defects of chance, and of a process that there is not; the suite counts the first and does not ask the second there',
  },
  {
    where: 'core',
    real: 'as 2.36 and 2.39: an ensemble runs no step whose optional inputs were not sent, the text about reserved parameters is lost on Node, and `file:../x` is a model without versions',
    embedded: '`--profile core=2.36` runs the ensemble and answers like 2.41 there',
    reason: 'no container with TensorRT-LLM had 2.36, and an ensemble that never runs shows nothing',
  },
  {
    where: 'grpc',
    real: 'a call that ends well has empty status details',
    embedded: 'the details are "OK"',
    reason: 'grpc-js sends it; no client reads it',
  },
  {
    where: 'grpc',
    real: 'classification of an output is honoured',
    embedded: 'ignored over gRPC, honoured over HTTP',
    reason: 'no model of the repository has labels',
  },
  {
    where: 'http',
    real: 'a HEAD reply has a body, strings that are not UTF-8 go out as they are, a second pipelined request is lost',
    embedded: 'no body, U+FFFD but for tensors, both are answered',
    reason: 'node:http frames replies; what a real server does there breaks the protocol',
  },
  {
    where: 'http',
    real: 'restricted APIs and header forwarding',
    embedded: 'not there',
    reason: 'both are off unless a flag asks for them',
  },
  {
    where: 'openai',
    real: 'LoRA, the parser of Mistral tool calls, vLLM mapping, /docs and /openapi.json',
    embedded: 'not there',
    reason: 'the TensorRT-LLM text routes do not need them',
  },
  {
    where: 'openai',
    real: 'trtllm-serve: several choices, guided decoding, LoRA, multimodal parts, the Responses API, parsers of tools and reasoning, /docs',
    embedded:
      'n and best_of above 1 are refused, response_format, min_p, lora_request, return_context_logits and disaggregated_params are accepted without effect, use_beam_search searches with one beam, the others are not there',
    reason: 'the engine draws one answer and has no grammar',
  },
  {
    where: 'openai',
    real: 'trtllm-serve counts cached prompt tokens, lists the errors of every kind of message, quotes Jinja’s own texts, ends itself after a fatal error of the executor',
    embedded: 'cached_tokens 0, the errors of one kind, texts of another Jinja, no fatal errors',
    reason: 'the engine does not tell what it found again; the texts are for people',
  },
  {
    where: 'openai',
    real: 'trtllm-serve never ends a stream of several prompts of which one fails',
    embedded: 'cuts it when the others have ended, as it cuts the stream of one prompt; the fault `serve-waits-for-failed-prompt` waits',
    reason: 'a stream that never ends is shown by a fault, on purpose',
  },
  {
    where: 'models',
    real: 'an engine error behind the first response of a stream takes the instance of tensorrt_llm_bls for ever (python_backend before 25.04)',
    embedded: 'a traceback, then the flag alone, as for an error that comes first; the fault `bls-hangs-on-late-error` hangs',
    reason: 'a model that is lost is shown by a fault, on purpose',
  },
  {
    where: 'models',
    real: 'llmapi never answers a request that is not streamed and was stopped',
    embedded: 'ends it as cancelled; the fault `stopped-request-unanswered` leaves it waiting',
    reason: 'a client that waits in vain is shown by a fault, on purpose',
  },
  {
    where: 'models',
    real: 'tracebacks name lines of NVIDIA’s model.py',
    embedded: 'other line numbers',
    reason: 'the files are not part of this project',
  },
  {
    where: 'models',
    real: 'LoRA, draft tokens, lookahead, guided decoding, retention, prompt tables, encoder and multimodal inputs',
    embedded: 'refused: in the words of an engine that is not set up for them where these are public, otherwise by name',
    reason: 'the engine does not have them',
  },
  {
    where: 'engine',
    real: 'generation logits of beams are those of the place in the batch that a beam held at each step; in streams they are [1, n, beams, vocabulary]',
    embedded: 'those that the ids of the beam were drawn from, [1, beams, n, vocabulary] always; shorter beams padded with 0',
    reason: 'rows that belong to their ids can be checked',
  },
  {
    where: 'models',
    real: 'the Python back end counts num_output_tokens over all of output_ids: a prompt that is echoed and the padding of beams too (source-read)',
    embedded: 'generated tokens alone',
    reason: 'that is what the name says, and nothing was observed',
  },
  {
    where: 'engine',
    real: 'all requests of a batch have the beam width of the engine, or are refused or wait',
    embedded: 'any width up to max_beam_width beside any other',
    reason: 'each sequence is computed alone',
  },
  {
    where: 'models',
    real: 'llmapi has an engine and a cache of its own, and tells per request how much of it was reused',
    embedded: 'shares the engine of tensorrt_llm; the metrics of a request say that nothing was reused',
    reason: 'one engine per process; a deployment has one of the two models',
  },
  {
    where: 'engine',
    real: 'bf16 or lower precision, fused kernels; greedy log-probabilities are 0 where top-k normalises over one token',
    embedded: 'double precision, batch-invariant; log-softmax of the logits that the choice was made by, over the whole vocabulary',
    reason: 'exactness is the point; `--reduction batch` gives real noise',
  },
  {
    where: 'engine',
    real: 'seeded sampling draws from cuRAND',
    embedded: 'draws from splitmix64, as its Python twin does: equal seeds give equal answers on both',
    reason: 'curand cannot be repeated without a GPU; equal seeds are compared on one target only',
  },
  {
    where: 'metrics',
    real: 'TensorRT-LLM gauges are refreshed every stats_check_period_ms (100)',
    embedded: 'true at the moment of reading',
    reason: 'a claim that waits for idle gets its answer sooner; it does not rest on it',
  },
];
