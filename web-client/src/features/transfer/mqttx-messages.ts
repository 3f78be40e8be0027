import { flag, type Members, membersOf, text } from '../../engine/read-members.ts';
import { FileProblem, type Place } from './file-problem.ts';
import { MESSAGES_MAX } from './limits.ts';
import { type FiledMessage, readRecord } from './message-record.ts';

/** `2024-05-01 12:34:56:789`, in local time. */
const CREATED_AT = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?::(\d{1,3}))?$/;

/**
 * The messages that MQTTX exported with its connections, oldest first. It writes payloads as it shows them, so they are
 * taken for text.
 *
 * @throws {FileProblem} for the first that is no message
 */
export function readMqttxMessages(entries: readonly unknown[]): readonly FiledMessage[] {
  const messages: FiledMessage[] = [];
  for (const entry of entries) {
    const list = membersOf(entry)?.messages;
    if (!Array.isArray(list)) continue;
    if (messages.length + list.length > MESSAGES_MAX)
      throw new FileProblem('tooManyMessages', { count: messages.length + list.length, max: MESSAGES_MAX });
    for (const each of list) messages.push(messageOf(each, { kind: 'message', number: messages.length + 1 }));
  }
  return messages.toSorted((one, other) => (one.atMs ?? 0) - (other.atMs ?? 0));
}

function messageOf(value: unknown, place: Place): FiledMessage {
  const read = membersOf(value) ?? {};
  const properties = membersOf(read.properties) ?? {};
  return readRecord(
    {
      timeMs: createdAtMs(read),
      direction: flag(read.out) ? 'published' : 'received',
      topic: read.topic,
      qos: read.qos,
      retain: read.retain,
      payload: read.payload,
      properties: {
        payloadFormatIndicator: properties.payloadFormatIndicator,
        messageExpiryIntervalSeconds: properties.messageExpiryInterval,
        responseTopic: properties.responseTopic,
        userProperties: Object.entries(membersOf(properties.userProperties) ?? {}).flatMap(([name, values]) =>
          (Array.isArray(values) ? values : [values]).map((one) => [name, String(one)]),
        ),
        contentType: properties.contentType,
      },
    },
    place,
  );
}

/** Undefined where it is written in another way: the order of the file counts then. */
function createdAtMs({ createAt }: Members): number | undefined {
  const [, year, month, day, hours, minutes, seconds, milliseconds = '0'] =
    CREATED_AT.exec(text(createAt) ?? '') ?? [];
  if (year === undefined) return undefined;
  const [at, ...time] = [year, month, day, hours, minutes, seconds, milliseconds].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [monthNumber, ...rest] = time;
  return new Date(at, monthNumber - 1, ...rest).getTime();
}
