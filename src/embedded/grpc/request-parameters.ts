import type { InferParameter } from '#wire/protocol/grpc-messages.ts';
import type { ParameterValue } from '../core/index.ts';

/** gRPC parameters → core values: int64 and uint64 become bigint, double a number. Entries without a value are dropped. */
export function parametersOf(parameters: Readonly<Record<string, InferParameter>>): Map<string, ParameterValue> {
  const out = new Map<string, ParameterValue>();
  for (const [key, p] of Object.entries(parameters)) {
    const value = valueOf(p);
    if (value !== undefined) out.set(key, value);
  }
  return out;
}

function valueOf(p: InferParameter): ParameterValue | undefined {
  switch (p.parameter_choice) {
    case 'bool_param':
      return p.bool_param === true;
    case 'int64_param':
      return BigInt(p.int64_param ?? 0);
    case 'uint64_param':
      return BigInt(p.uint64_param ?? 0);
    case 'double_param':
      return p.double_param ?? 0;
    case 'string_param':
      return p.string_param ?? '';
    default:
      return undefined;
  }
}
