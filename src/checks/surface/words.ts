/** Every parameter of an inference request by one neutral name, whatever a route calls it. */

export interface Bias {
  readonly word: string;
  /** Added to the logits of the word's tokens. */
  readonly weight: number;
}

/** What is asked besides the prompt. Absent: not sent. null: sent as JSON null on the OpenAI routes, not sent elsewhere. */
export interface Words {
  readonly maxTokens?: number;
  readonly maxCompletionTokens?: number;
  readonly minTokens?: number;
  /** null: no end_id, where a route would send one by itself. */
  readonly endId?: number | null;
  readonly stopWords?: readonly string[];
  readonly badWords?: readonly string[];
  readonly bias?: readonly Bias[];
  readonly temperature?: number | null;
  readonly topK?: number;
  readonly topP?: number | null;
  readonly topPDecay?: number;
  readonly topPMin?: number;
  readonly topPResetId?: number;
  readonly seed?: number;
  readonly repetitionPenalty?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly beamWidth?: number;
  readonly lengthPenalty?: number;
  readonly beamDiversity?: number;
  readonly earlyStopping?: boolean;
  readonly sequences?: number;
  readonly logProbs?: boolean;
  readonly contextLogits?: boolean;
  readonly perfMetrics?: boolean;
  readonly generationLogits?: boolean;
  readonly countInput?: boolean;
  readonly countOutput?: boolean;
  readonly excludeInput?: boolean;
  readonly echo?: boolean;
  readonly stream?: boolean;
}

export type Word = keyof Words;
