import { attributesBytes, readAttributes, readSystemAttributes } from './attributes.ts';
import { contentDeduplicationId } from './deduplication.ts';
import { invalidMessageContents, invalidParameter, invalidValue, missingParameter } from './errors.ts';
import { type Input, integer, text } from './input.ts';
import type { SqsLimits } from './limits.ts';
import type { MessageDraft } from './message.ts';
import type { QueueSettings } from './queue-options.ts';

/** The characters that XML 1.0 cannot carry, lone surrogates among them. */
const FORBIDDEN_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** Letters, digits and punctuation of ASCII: everything that can be seen. */
const ID = /^[!-~]+$/;

const WRONG_KIND = 'The request include parameter that is not valid for this queue type';

/** Reads and checks the message of a request or of an entry. */
export function readDraft(
  input: Input,
  settings: QueueSettings,
  limits: SqsLimits,
  senderId: string,
): MessageDraft {
  const body = text(input, 'MessageBody') ?? '';
  if (body === '') throw missingParameter('MessageBody');
  if (FORBIDDEN_CHARACTER.test(body)) throw invalidMessageContents();
  const attributes = readAttributes(input, limits.attributesMax);
  const systemAttributes = readSystemAttributes(input);
  // System attributes do not count.
  const bytes = Buffer.byteLength(body) + attributesBytes(attributes);
  if (bytes > settings.messageBytesMax) {
    const reason = `Message must be shorter than ${settings.messageBytesMax} bytes.`;
    throw invalidParameter(`One or more parameters are invalid. Reason: ${reason}`);
  }
  return {
    body,
    attributes,
    systemAttributes,
    bytes,
    groupId: readGroupId(input, settings, limits),
    deduplicationId: readDeduplicationId(input, body, settings, limits),
    delaySeconds: readDelay(input, settings, limits),
    senderId,
  };
}

/**
 * Without a group id a FIFO queue refuses the whole request; a standard queue uses the id for fairness among tenants.
 */
function readGroupId(input: Input, { fifo }: QueueSettings, limits: SqsLimits): string | undefined {
  const id = readId(input, 'MessageGroupId', limits);
  if (id === undefined && fifo) throw missingParameter('MessageGroupId');
  return id;
}

function readDeduplicationId(
  input: Input,
  body: string,
  { contentBasedDeduplication, fifo }: QueueSettings,
  limits: SqsLimits,
): string | undefined {
  const id = readId(input, 'MessageDeduplicationId', limits);
  if (!fifo) {
    if (id === undefined) return undefined;
    throw invalidValue(id, 'MessageDeduplicationId', WRONG_KIND);
  }
  if (id !== undefined) return id;
  if (contentBasedDeduplication) return contentDeduplicationId(body);
  throw invalidParameter(
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
  );
}

function readId(
  input: Input,
  name: 'MessageGroupId' | 'MessageDeduplicationId',
  { idCharactersMax }: SqsLimits,
): string | undefined {
  const id = text(input, name);
  if (id === undefined || (ID.test(id) && id.length <= idCharactersMax)) return id;
  const reason = `${name} can only include alphanumeric and punctuation characters. 1 to ${idCharactersMax} in length.`;
  throw invalidValue(id, name, reason);
}

function readDelay(input: Input, { fifo }: QueueSettings, limits: SqsLimits): number | undefined {
  const seconds = integer(input, 'DelaySeconds');
  if (seconds === undefined) return undefined;
  if (seconds < 0 || seconds > limits.delaySecondsMax) {
    throw invalidValue(
      seconds,
      'DelaySeconds',
      `DelaySeconds must be >= 0 and <= ${limits.delaySecondsMax}.`,
    );
  }
  if (!fifo) return seconds;
  // On a FIFO queue only the queue has a delay. A delay of 0 is allowed and has no effect.
  if (seconds > 0) throw invalidValue(seconds, 'DelaySeconds', WRONG_KIND);
  return undefined;
}
