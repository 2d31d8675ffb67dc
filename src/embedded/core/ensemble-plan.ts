import type { EnsembleStep, ModelConfig } from '#wire/protocol/model-config.ts';

/** A step as the scheduler needs it, made once per config: the maps are walked for every streamed chunk. */
export interface PlannedStep {
  readonly modelName: string;
  readonly modelVersion: number;
  readonly inputs: readonly { readonly input: string; readonly tensor: string }[];
  /** Step output → ensemble tensor. */
  readonly outputs: ReadonlyMap<string, string>;
  readonly outputNames: readonly string[];
}

const plans = new WeakMap<ModelConfig, readonly PlannedStep[]>();

/** The steps of an ensemble, in config order. */
export function planOf(config: ModelConfig): readonly PlannedStep[] {
  let plan = plans.get(config);
  if (plan === undefined) plans.set(config, (plan = (config.ensemble_scheduling?.step ?? []).map(planStep)));
  return plan;
}

function planStep(step: EnsembleStep): PlannedStep {
  return {
    modelName: step.model_name,
    modelVersion: step.model_version,
    inputs: Object.entries(step.input_map).map(([input, tensor]) => ({ input, tensor })),
    outputs: new Map(Object.entries(step.output_map)),
    outputNames: Object.keys(step.output_map),
  };
}

/** The steps that the wanted tensors come from, in config order; the others are not run at all (observed on 2.51). */
export function neededSteps(steps: readonly PlannedStep[], wanted: readonly string[]): PlannedStep[] {
  const tensors = new Set(wanted);
  const needed = new Set<PlannedStep>();
  for (let grew = true; grew;) {
    grew = false;
    for (const step of steps) {
      if (needed.has(step) || ![...step.outputs.values()].some((tensor) => tensors.has(tensor))) continue;
      needed.add(step);
      for (const { tensor } of step.inputs) tensors.add(tensor);
      grew = true;
    }
  }
  return steps.filter((step) => needed.has(step));
}
