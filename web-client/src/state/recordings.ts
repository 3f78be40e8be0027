import type { MessageFields } from '../engine/log/message.ts';
import { newId, newProfile } from '../engine/new-profile.ts';
import { connections } from './connections.ts';
import { isRecording, RECORDING_PREFIX } from './recording-ids.ts';
import { useStore } from './store.ts';

export type RecordedMessage = Pick<MessageFields, 'direction' | 'topic' | 'qos' | 'retain' | 'properties'> & {
  /** Undefined if the file does not contain it. */
  readonly atMs: number | undefined;
  readonly payload: Uint8Array;
};

/** Open recordings: each holds as much as the log of a connection. The oldest is closed. */
const RECORDINGS_MAX = 5;

/**
 * Shows the messages of a file as a connection that never connects: nothing is sent, and nothing is stored.
 *
 * @returns its id
 */
export function openRecording(name: string, messages: readonly RecordedMessage[]): string {
  const { profiles } = useStore.getState();
  const open = profiles.filter(({ id }) => isRecording(id));
  for (const { id } of open.slice(0, Math.max(0, open.length + 1 - RECORDINGS_MAX))) closeRecording(id);
  const id = `${RECORDING_PREFIX}${newId()}`;
  const openedAtMs = Date.now();
  useStore.setState((state) => ({
    profiles: [...state.profiles, { ...newProfile('', name), id }],
    activeId: id,
  }));
  // Added last: the topic tree and the charts follow the existing profiles, and count messages that come from then on.
  connections.get(id).messages.append(messages.map((message) => fieldsOf(id, message, openedAtMs)));
  return id;
}

export function closeRecording(id: string): void {
  connections.remove(id);
  useStore.setState(({ profiles, activeId }) => {
    const rest = profiles.filter((profile) => profile.id !== id);
    return { profiles: rest, activeId: activeId === id ? rest[0]?.id : activeId };
  });
}

/** Its packet consists of the payload alone: a file does not contain the rest. */
function fieldsOf(connectionId: string, message: RecordedMessage, openedAtMs: number): MessageFields {
  const { payload, atMs = openedAtMs, direction, topic, qos, retain, properties } = message;
  return {
    connectionId,
    direction,
    atMs,
    topic,
    qos,
    retain,
    dup: false,
    packetId: undefined,
    properties,
    subscriptionIds: [],
    chunk: payload,
    packetOffset: 0,
    packetLength: payload.length,
    payloadOffset: 0,
    latencyMs: undefined,
    missingBefore: 0,
  };
}
