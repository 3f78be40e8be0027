import { PROBLEM_STATUSES, type ProblemCode } from '@apus/api';
import { type ApiAnswer, refusal } from '@apus/door';
import { isUtf8, type PublishPacket, ReasonCode, reasonCodeName, type UserProperties } from '@apus/mqtt';

/** The types of events beside that of messages, which is `message`. */
export type EventType = 'gap' | 'end';

/** A comment, which a client leaves out: proxies take a silent connection for a dead one. */
export const HEARTBEAT = ':\n\n';

/** One event as text/event-stream has it. Without data it tells its id alone. */
export function eventText(
  data?: object,
  { id, type }: { id?: string | undefined; type?: EventType | undefined } = {},
): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(type === undefined ? [] : [`event: ${type}`]),
    // JSON has no line breaks.
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ];
  return lines
    .map((line) => `${line}\n`)
    .join('')
    .concat('\n');
}

/** A message as the body of `POST /publish` has it. */
export function messageData({ topic, payload, retain, properties }: PublishPacket): object {
  const { userProperties = [], contentType } = properties;
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const isText = isUtf8(payload);
  return {
    topic,
    payload: bytes.toString(isText ? 'utf8' : 'base64'),
    ...(!isText && { payload_encoding: 'base64' }),
    retain,
    properties: {
      ...(contentType !== undefined && { content_type: contentType }),
      ...(userProperties.length > 0 && { user_properties: byName(userProperties) }),
    },
  };
}

/** A name that comes more than once has a list. */
function byName(userProperties: UserProperties): object {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of userProperties) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(values);
}

/** The data of the last event. */
export function endData(reasonCode: number, reason: string | undefined): object {
  return { reason_code: reasonCode, message: reason ?? reasonCodeName(reasonCode) };
}

const CODES: ReadonlyMap<number, ProblemCode> = new Map([
  [ReasonCode.BadUserNameOrPassword, 'BAD_TOKEN'],
  [ReasonCode.Banned, 'FORBIDDEN'],
  [ReasonCode.ClientIdentifierNotValid, 'FORBIDDEN'],
  [ReasonCode.AdministrativeAction, 'FORBIDDEN'],
  [ReasonCode.QuotaExceeded, 'TOO_MANY_REQUESTS'],
  [ReasonCode.ConnectionRateExceeded, 'TOO_MANY_REQUESTS'],
  [ReasonCode.MessageRateTooHigh, 'TOO_MANY_REQUESTS'],
  [ReasonCode.UnspecifiedError, 'SERVICE_UNAVAILABLE'],
  [ReasonCode.ServerUnavailable, 'SERVICE_UNAVAILABLE'],
  [ReasonCode.ServerBusy, 'SERVICE_UNAVAILABLE'],
  [ReasonCode.ServerShuttingDown, 'SERVICE_UNAVAILABLE'],
]);

/** Seconds after which a client that is turned away for now may come again. */
const RETRY_AFTER_SECONDS = 5;

/** The refusal of a stream by a reason code of MQTT. @param notAuthorized what 0x87 means here */
export function refusalOfCode(
  reasonCode: number,
  reason: string | undefined,
  notAuthorized: 'BAD_TOKEN' | 'FORBIDDEN',
): ApiAnswer {
  const other = reasonCode === ReasonCode.NotAuthorized ? notAuthorized : 'BAD_REQUEST';
  return refusalForNow(CODES.get(reasonCode) ?? other, reason ?? reasonCodeName(reasonCode));
}

/** With the time to come again, where that may help. */
export function refusalForNow(code: ProblemCode, message: string): ApiAnswer {
  const isForNow = [429, 503].includes(PROBLEM_STATUSES[code]);
  return {
    ...refusal(code, message),
    ...(isForNow && { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } }),
  };
}
