import type { DynamoSweepScan, SweepPosition, SweptSession } from '@apus/store-dynamodb';

/** Segments that are read side by side: 4 MB a round. */
const SEGMENTS = 4;

/**
 * The sessions of the whole table, a round at a time. Some may have changed since they were read.
 *
 * @param withIdentities @default true
 */
export async function* sessionsOf(
  scan: DynamoSweepScan,
  withIdentities = true,
): AsyncGenerator<readonly SweptSession[], void> {
  let positions: (SweepPosition | 'begin' | 'done')[] = Array.from({ length: SEGMENTS }, () => 'begin');
  while (positions.some((position) => position !== 'done')) {
    const pages = await Promise.all(
      positions.map((position, segment) =>
        position === 'done'
          ? undefined
          : scan.page(segment, SEGMENTS, position === 'begin' ? undefined : position, withIdentities),
      ),
    );
    positions = pages.map((page) => page?.next ?? 'done');
    yield pages.flatMap((page) => page?.found ?? []).filter(isSession);
  }
}

export function isSession(swept: { readonly kind: string }): swept is SweptSession {
  return swept.kind === 'session' && (swept as SweptSession).incarnation !== '';
}
