import { ACCEPTED_MEANS_APPLIED, type SeedProbe, spells, surfaceOf } from '#checks/surface/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Findings } from './findings.ts';
import { telling } from './run-draws.ts';
import { askWith, type Work } from './work.ts';

const SEEDS = 4;
/** The chance that seeds which matter give one answer only on every prompt must be below this, or nothing is proven. */
const UNLIKELY = 1e-4;

/** First tokens by several seeds, each twice, on one prompt after the other until two seeds differ. */
export async function runSeeds(work: Work, probe: SeedProbe, route: RouteId, findings: Findings): Promise<void> {
  if (!spells(surfaceOf(route, work.profile), probe.words, work.profile.models)) return;
  const allEqual = (logits: Float32Array) => probe.chances(logits).reduce((sum, p) => sum + p ** SEEDS, 0);
  const subjects = await telling(work, route, probe.id, (s) => -allEqual(s.logits[0]!));
  const base = work.lab.plan.rng(`seeds-${route}`).int(0, 1e9);
  let chance = 1;
  for (const [k, subject] of subjects.entries()) {
    const seen = new Set<string>();
    for (let i = 0; i < SEEDS; i++) {
      // Other seeds for every prompt: the same ones would draw alike, and the chances below could not be multiplied.
      const words = { ...probe.with, maxTokens: 1, seed: base + k * SEEDS + i };
      const [first, again] = [await askWith(work, route, subject, words), await askWith(work, route, subject, words, 1)];
      const refusal = first.refusal ?? again.refusal;
      if (refusal !== undefined) return findings.fail('seed-decides', 'refused', probe.id, refusal, route, subject);
      findings.exercised();
      const [text, repeated] = [first.answers[0]?.text, again.answers[0]?.text];
      if (text !== repeated && work.exact)
        findings.fail(
          'seed-decides',
          'same-seed-differs',
          probe.id,
          `${JSON.stringify(text)}, then ${JSON.stringify(repeated)} by one seed`,
          route,
          subject,
        );
      seen.add(text ?? '');
    }
    // Two that differ are proof; that all are equal is one only when it would be a wonder.
    if (seen.size > 1) return;
    chance *= allEqual(subject.logits[0]!);
  }
  if (chance >= UNLIKELY) return findings.vacuous(ACCEPTED_MEANS_APPLIED, probe.id, route, 'no prompt leaves enough to chance');
  const text = `${SEEDS} seeds give one answer only on each of ${subjects.length} prompts (chance ${chance.toPrecision(1)})`;
  findings.fail(ACCEPTED_MEANS_APPLIED, 'ignored', probe.id, text, route);
}
