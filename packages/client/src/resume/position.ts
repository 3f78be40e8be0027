/** User properties of MQTT 5, in mqtt.js's form. */
export type UserProperties = Record<string, string | string[]>;

/** A parsed `stream-position` (docs/streams.md). */
export interface Position {
  readonly epoch: string;
  readonly number: number;
  /** Every message up to this number had been sent to its readers when this one was appended. */
  readonly stable: number;
  /** The topic. SUBACK names it if the filter has wildcards. */
  readonly topic: string | undefined;
}

const POSITION = /^([0-9a-z]+)-(\d+)(?:-(\d+))?(?: (.*))?$/s;

export function positionsOf(
  userProperties: UserProperties | undefined,
  name: 'stream-position' | 'stream-after',
): Position[] {
  const positions: Position[] = [];
  for (const text of [userProperties?.[name] ?? []].flat()) {
    const [, epoch, digits, stable, topic] = POSITION.exec(text) ?? [];
    const number = Number(digits);
    if (epoch !== undefined) positions.push({ epoch, number, stable: Number(stable ?? number - 1), topic });
  }
  return positions;
}
