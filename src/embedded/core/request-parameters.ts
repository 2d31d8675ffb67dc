import { CoreError, type ParameterValue, type Transport } from './types.ts';

const EMPTY_FINAL = 'triton_enable_empty_final_response';

/** Refuses parameters that begin with `triton_` (texts of 2.51). Errors: INVALID_ARG. */
export function checkReservedParameters(parameters: ReadonlyMap<string, ParameterValue>, transport: Transport): void {
  if (transport === 'http-generate' || transport === 'internal') return;
  for (const key of parameters.keys()) {
    if (!key.startsWith('triton_') || (key === EMPTY_FINAL && transport === 'grpc')) continue;
    throw new CoreError(
      'INVALID_ARG',
      transport === 'grpc'
        ? `parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys starting with 'triton_' are allowed: ${EMPTY_FINAL}`
        : "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.",
    );
  }
}

const EXPECTED: Readonly<Record<string, readonly [types: readonly string[], names: string]>> = {
  sequence_id: [['bigint', 'string'], 'int64_param or string_param'],
  sequence_start: [['boolean'], 'bool_param'],
  sequence_end: [['boolean'], 'bool_param'],
  priority: [['bigint'], 'int64_param or uint64_param'],
  timeout: [['bigint'], 'int64_param'],
};

/** Checks the kind of the scheduling parameters. Errors: INVALID_ARG. */
export function checkScheduling(parameters: ReadonlyMap<string, ParameterValue>): void {
  for (const [key, value] of parameters) {
    const expected = EXPECTED[key];
    if (expected === undefined || expected[0].includes(typeof value)) continue;
    throw new CoreError('INVALID_ARG', `invalid value type for '${key}' parameter, expected ${expected[1]}.`);
  }
}
