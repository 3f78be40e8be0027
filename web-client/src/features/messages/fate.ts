import type { PublishFate } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { reasonWords } from '../../ui/trouble.ts';

/** MQTT 5's PUBACK says that no client is subscribed. */
const NO_MATCHING_SUBSCRIBERS = 0x10;

/** The outcome of a published message: in a word, and in a sentence. */
export interface FateWords {
  readonly short: string;
  readonly long: string;
}

/** @param qos of the message: at QoS 0 no answer follows */
export function fateWords({ state, code, detail }: PublishFate, qos: number): FateWords {
  if (state === 'refused') {
    const { title } = reasonWords(code ?? 0x80);
    const why = detail === '' ? title : `${title}: “${detail}”`;
    return { short: hex(code ?? 0x80), long: t('messages.fates.refused.long', { why }) };
  }
  if (state === 'sent') return wordsOf(qos === 0 ? 'sent' : 'waiting');
  if (state !== 'acknowledged') return wordsOf(state);
  if (code === undefined) return wordsOf('acknowledgedBlind');
  return wordsOf(code === NO_MATCHING_SUBSCRIBERS ? 'noMatchingSubscribers' : 'acknowledged');
}

function wordsOf(
  key:
    | 'sent'
    | 'waiting'
    | 'acknowledged'
    | 'acknowledgedBlind'
    | 'noMatchingSubscribers'
    | 'unknown'
    | 'lost',
): FateWords {
  return { short: t(`messages.fates.${key}.short`), long: t(`messages.fates.${key}.long`) };
}

function hex(code: number): string {
  return `0x${code.toString(16).padStart(2, '0').toUpperCase()}`;
}
