import { containsWildcard, ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import type { Message } from '../model/message.ts';
import { messageBytes } from '../model/page.ts';

const PRESENCE = '$presence';
const PREFIX = `${PRESENCE}/`;
const OCCUPANCY_PREFIX = '$occupancy/';

/**
 * Bytes of a member's topic, so that its room and its own name are short: the rooms of a session stand in one item of
 * DynamoDB, of at most 400 KB, with its will. Beyond it: 0x90.
 */
const PRESENCE_TOPIC_BYTES_MAX = 1_024;

const NOT_HERE = 'this door keeps no presence';

const NAME_ROOM =
  'this deployment has no list of all rooms: name the room, or subscribe with Retain Handling 2 to be told changes alone';

/** Retain Handling: do not send retained messages at the time of the subscribe (section 3.8.3.1). */
const NO_LIST = 2;

/** Whether a topic or filter begins like the topics of members. */
export function isPresenceTopic(topic: string): boolean {
  return topic.startsWith(PREFIX) || topic === PRESENCE;
}

/** Whether a filter matches topics of rooms: its subscribers are first sent the present state. */
export function isPresenceFilter(topicFilter: string): boolean {
  return topicFilter.startsWith(PREFIX) || topicFilter.startsWith(OCCUPANCY_PREFIX);
}

export function presenceTopic(room: string, member: string): string {
  return `${PREFIX}${room}/${member}`;
}

export function occupancyTopic(room: string): string {
  return OCCUPANCY_PREFIX + room;
}

/** Undefined where the topic names no member of a room. */
export function parsePresence(topic: string): { readonly room: string; readonly member: string } | undefined {
  const [first, room, member, ...others] = topic.split('/');
  if (first !== PRESENCE || !room || !member || others.length > 0) return undefined;
  return { room, member };
}

/** The reason why a client cannot publish this to a topic of members; undefined if it can. */
export function presenceViolation(
  { ports, limits }: Context,
  message: Pick<Message, 'topic' | 'payload' | 'properties'>,
): Violation | undefined {
  const { topic } = message;
  if (ports.presence === undefined) return new Violation(ReasonCode.TopicNameInvalid, NOT_HERE);
  if (parsePresence(topic) === undefined) {
    const reason = `${JSON.stringify(topic)} is not $presence/ROOM/MEMBER, with one level for each`;
    return new Violation(ReasonCode.TopicNameInvalid, reason);
  }
  const topicBytes = Buffer.byteLength(topic);
  if (topicBytes > PRESENCE_TOPIC_BYTES_MAX) {
    const reason = `the topic of a member has ${topicBytes} bytes, and at most ${PRESENCE_TOPIC_BYTES_MAX} are taken`;
    return new Violation(ReasonCode.TopicNameInvalid, reason);
  }
  const bytes = messageBytes(message) - topicBytes;
  if (bytes <= limits.presenceBytesMax) return undefined;
  const reason = `the data of a member have ${bytes} bytes, and at most ${limits.presenceBytesMax} are taken`;
  return new Violation(ReasonCode.QuotaExceeded, reason);
}

/** The reason why a client cannot subscribe to the filter; undefined if it can. */
export function presenceFilterViolation(
  { ports: { presence } }: Context,
  topicFilter: string,
  retainHandling: number,
): Violation | undefined {
  if (!isPresenceFilter(topicFilter)) return undefined;
  if (presence === undefined) return new Violation(ReasonCode.TopicFilterInvalid, NOT_HERE);
  const isOneRoom = !containsWildcard(topicFilter.split('/')[1] ?? '');
  if (presence.isListedByRoom !== true || isOneRoom || retainHandling === NO_LIST) return undefined;
  return new Violation(ReasonCode.TopicFilterInvalid, NAME_ROOM);
}
