/** A probe shows that a parameter which a route accepts has its effect there. Probes are data; suites/parameters asks them. */
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Tensor } from '#wire/protocol/tensors.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Reply } from './reply.ts';
import type { Surface } from './spellings.ts';
import type { Subject } from './subject.ts';
import type { Word, Words } from './words.ts';

/** What a probe knows of the target. */
export interface ProbeContext {
  readonly tokenizer: Tokenizer;
  readonly profile: ReleaseProfile;
}

export interface Shown extends ProbeContext {
  readonly route: RouteId;
  readonly subject: Subject;
  /** By the names that `asks` gave. None of them was refused. */
  readonly replies: Readonly<Record<string, Reply>>;
  /** What tensorrt_llm gave to the same words, as far as it has them. On raw the same replies. */
  readonly raw: Readonly<Record<string, Reply>>;
  /** Whether equal requests give equal answers on this target, flips at near ties included (the policy `exact`). */
  readonly exact: boolean;
}

interface ProbeBase {
  /** Stable, kebab-case; reports and docs/surface.md name it. */
  readonly id: string;
  /** One sentence: what the parameter does. */
  readonly effect: string;
}

/** Requests that differ in the parameter, and what must be seen of the difference. */
export interface PairProbe extends ProbeBase {
  readonly kind: 'pair';
  /** First the one whose effect is shown, then those that it needs. */
  readonly words: readonly Word[];
  /** Prompts on raw, where ids are seen; 1 when absent, and 1 on other routes. */
  readonly subjects?: number;
  /** One prompt of `subjects` that shows the effect is enough, on every route: nobody can say beforehand which one does. */
  readonly oneIsEnough?: true;
  /** Outputs beside the text in which the effect is seen. */
  readonly outputs?: readonly string[];
  /** Several responses per request: only a decoupled repository gives them. */
  readonly severalResponses?: true;
  /** Whether the release has the parameter; absent: every release has. */
  when?(profile: ReleaseProfile): boolean;
  /** Questions by name, `without` and `with` at least; undefined when this prompt cannot show the effect. */
  asks(s: Subject, context: ProbeContext): { readonly without: Words; readonly with: Words; readonly [name: string]: Words } | undefined;
  /** What is wrong, in one sentence; undefined when the effect is there. */
  shows(shown: Shown): string | undefined;
}

/** A parameter of the draw: the likelihood of what was drawn says whether it was applied. */
export interface DrawProbe extends ProbeBase {
  readonly kind: 'draw';
  readonly words: readonly Word[];
  readonly with: Words;
  /** The chance of every id as the first token, when the parameter is applied and when it is not. */
  chances(logits: Float32Array): { readonly applied: Float64Array; readonly ignored: Float64Array };
}

/** The seed: equal ones give equal answers, others give others. */
export interface SeedProbe extends ProbeBase {
  readonly kind: 'seed';
  readonly words: readonly Word[];
  /** But for the seed. */
  readonly with: Words;
  /** The chance of every id as the first token. */
  chances(logits: Float32Array): Float64Array;
}

/** An input of which, by its contract, nothing may be seen in the answer: `effect` says why. */
export interface InertProbe extends ProbeBase {
  readonly kind: 'inert';
  readonly inputs: Partial<Readonly<Record<Surface, readonly Extra[]>>>;
}

/** An input that no word stands for. */
export interface Extra {
  readonly name: string;
  /** A tensor [1, …] for models, a JSON value for the front end. */
  readonly value: Tensor | { readonly json: unknown };
  /** The one route that has it, where its surface has several. */
  readonly on?: RouteId;
}

/** Inputs that must be refused, since they have no effect here; each is asked alone. */
export interface RefusalProbe extends ProbeBase {
  readonly kind: 'refusal';
  readonly inputs: Partial<Readonly<Record<Surface, readonly (Extra & { readonly says: RegExp })[]>>>;
}

export interface FieldInput extends Pick<Extra, 'name'> {
  /** The JSON value, or what makes it of the prompt's greedy answer. */
  readonly value: Extra['value'] | ((s: Subject) => unknown);
  /** The one route that has it, where its surface has several. */
  readonly on?: RouteId;
  /** Members that the request has with the field and without it. */
  readonly beside?: (s: Subject, context: ProbeContext) => Readonly<Record<string, unknown>>;
  /** Whether the release refuses it. */
  readonly refused?: (profile: ReleaseProfile) => boolean;
}

/** Fields of the front end that belong to no word: one that is accepted must change the answer of a prompt that fits. */
export interface FieldProbe extends ProbeBase {
  readonly kind: 'field';
  readonly inputs: Partial<Readonly<Record<Surface, readonly FieldInput[]>>>;
  fits(s: Subject, context: ProbeContext): boolean;
}

export type Probe = PairProbe | DrawProbe | SeedProbe | InertProbe | RefusalProbe | FieldProbe;
