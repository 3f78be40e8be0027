import { DROP_NAMES, type DropCounts, type DropReason } from '@apus/broker';
import { sumOf } from '../drop-meter.ts';

/** `delivery.dropped`, `delivery.dropped.queue_full` and so on, for a `prefix` of `delivery.dropped`. */
export function dropFigures(prefix: string, counts: DropCounts): Readonly<Record<string, number>> {
  const figures: Record<string, number> = { [prefix]: sumOf(counts) };
  for (const [why, name] of Object.entries(DROP_NAMES)) {
    figures[`${prefix}.${name}`] = counts[why as DropReason] ?? 0;
  }
  return figures;
}
