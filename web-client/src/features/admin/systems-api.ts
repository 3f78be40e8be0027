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

/** Null: a deployment does not know it. */
type OfNode<T> = { readonly [Field in keyof T]: T[Field] | null };

export interface BridgeEntry
  extends Pick<System, 'name' | 'type' | 'remote'>,
    OfNode<Pick<System, 'status' | 'since' | 'last_error'>> {
  readonly in: Direction & { readonly lag?: number | null };
  readonly out: Direction & { readonly waiting?: number | null };
}

export interface RuleEntry
  extends Pick<System, 'name' | 'type' | 'remote'>,
    OfNode<Pick<System, 'status' | 'since' | 'last_error'>> {
  readonly filter: string;
  readonly when: string | null;
  readonly sent: number | null;
  readonly waiting: number | null;
  readonly inflight: number | null;
  readonly dead_letters: number;
}

/** Messages of both directions that did not cross. */
export function notCarried({ in: into, out }: BridgeEntry): number {
  return [into, out]
    .flatMap(({ refused, looped, dropped, skipped }: Direction) => [refused, looped, dropped, skipped])
    .reduce<number>((sum, count) => sum + (count ?? 0), 0);
}
