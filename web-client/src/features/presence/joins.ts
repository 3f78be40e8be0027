import { create } from 'zustand';
import type { ConnectionStatus, Outcome } from '../../engine/types.ts';
import { connections } from '../../state/connections.ts';
import { useStore } from '../../state/store.ts';
import { memberTopic } from './topics.ts';

/** A member that this page makes present in a room. */
export interface Join {
  readonly room: string;
  readonly member: string;
  readonly data: string;
}

interface Joined {
  readonly joins: readonly Join[];
  /** The MQTT connection on which all of them were last published. */
  readonly connectedAtMs: number | undefined;
}

interface JoinsState {
  /** By the connection's id. */
  readonly joined: Readonly<Record<string, Joined>>;
}

const encoder = new TextEncoder();

export const useJoins = create<JoinsState>(() => ({ joined: {} }));

export function joinIn(joined: Joined | undefined, room: string): Join | undefined {
  return joined?.joins.find((join) => join.room === room);
}

/** Enters a room, or changes the data there. Another member of this page leaves. */
export async function enter(connectionId: string, join: Join): Promise<Outcome> {
  const before = joinIn(useJoins.getState().joined[connectionId], join.room);
  if (before !== undefined && before.member !== join.member) await leave(connectionId, before);
  const outcome = await publish(connectionId, join, join.data);
  if (outcome.ok) change(connectionId, (joins) => [...without(joins, join.room), join]);
  return outcome;
}

export async function leave(connectionId: string, join: Join): Promise<Outcome> {
  change(connectionId, (joins) => without(joins, join.room));
  return await publish(connectionId, join, '');
}

function publish(connectionId: string, { room, member }: Join, data: string): Promise<Outcome> {
  const payload = encoder.encode(data);
  const topic = memberTopic(room, member);
  return connections.get(connectionId).publish({ topic, payload, qos: 1, retain: false });
}

function without(joins: readonly Join[], room: string): readonly Join[] {
  return joins.filter((join) => join.room !== room);
}

function change(connectionId: string, next: (joins: readonly Join[]) => readonly Join[]): void {
  const joins = next(useJoins.getState().joined[connectionId]?.joins ?? []);
  const connectedAtMs = useStore.getState().statuses[connectionId]?.session?.connectedAtMs;
  keep(connectionId, joins.length === 0 ? undefined : { joins, connectedAtMs });
}

function keep(connectionId: string, joined: Joined | undefined): void {
  const { [connectionId]: _before, ...others } = useJoins.getState().joined;
  useJoins.setState({ joined: joined === undefined ? others : { ...others, [connectionId]: joined } });
}

/** A member exists as long as its connection: each new connection enters again. A user who disconnects has left. */
function look(connectionId: string, status: ConnectionStatus | undefined): void {
  const joined = useJoins.getState().joined[connectionId];
  if (joined === undefined) return;
  const { session, phase = 'idle' } = status ?? {};
  if (phase === 'idle' || phase === 'failed') keep(connectionId, undefined);
  if (session === undefined || session.connectedAtMs === joined.connectedAtMs) return;
  keep(connectionId, { ...joined, connectedAtMs: session.connectedAtMs });
  for (const join of joined.joins) void publish(connectionId, join, join.data);
}

useStore.subscribe(({ statuses }) => {
  for (const id of Object.keys(useJoins.getState().joined)) look(id, statuses[id]);
});
