/** Bridges and rules as `GET /api/v5/bridges` and `/rules` list them, as far as they are shown here. */
interface System {
  readonly name: string;
  readonly type: string;
  readonly remote: string;
  readonly status: 'connecting' | 'connected' | 'disconnected' | 'stopped';
  readonly since: string;
  readonly last_error: string | null;
}

interface Direction {
  readonly forwarded?: number;
  readonly refused?: number;
  readonly looped?: number;
  readonly dropped?: number;
  readonly skipped?: number;
}

export interface BridgeEntry extends System {
  readonly in: Direction & { readonly lag?: number | null };
  readonly out: Direction & { readonly waiting?: number };
}

export interface RuleEntry extends System {
  readonly filter: string;
  readonly when: string | null;
  readonly sent: number;
  readonly waiting: number;
  readonly inflight: number;
  readonly dead_letters: number;
}

/** Messages of both directions that did not cross. */
export function notCarried({ in: into, out }: BridgeEntry): number {
  return [into, out]
    .flatMap(({ refused, looped, dropped, skipped }: Direction) => [refused, looped, dropped, skipped])
    .reduce<number>((sum, count) => sum + (count ?? 0), 0);
}
