import { matches } from '@apus/mqtt/topic';
import type { LoggedMessage, MessageLog, PlacedMark } from '../../engine/types.ts';
import { decodeValue } from '../decode/decode.ts';
import { valueAt } from '../decode/json-path.ts';
import { type DecodedValue, numberOf } from '../decode/value.ts';
import {
  DECODED_BYTES_PER_BATCH_MAX,
  GAPS_MAX,
  LOOK_BACK_BYTES_MAX,
  LOOK_BACK_MESSAGES_MAX,
  PAYLOAD_BYTES_MAX,
  SAMPLES_MAX,
  TOPICS_MAX,
} from './limits.ts';
import { SampleRing } from './sample-ring.ts';
import type { Series } from './series.ts';

/** A series with its samples. */
export interface Recording {
  readonly series: Series;
  readonly samples: SampleRing;
  /** Messages of its topic without a number. */
  withoutNumber: number;
  /** Messages that were too many or too large to decode. */
  notDecoded: number;
}

/** Takes the samples of all series of one connection from its messages. */
export class Recorder {
  readonly #recordings = new Map<string, Recording>();
  #byTopic = new Map<string, readonly Recording[]>();
  #gaps: readonly number[] = [];

  /** Times at which there was no connection: no line crosses them. */
  get gaps(): readonly number[] {
    return this.#gaps;
  }

  get(id: string): Recording | undefined {
    return this.#recordings.get(id);
  }

  /**
   * Begins with the messages that the log still holds. A series that is already recorded continues with its samples.
   */
  add(series: Series, log?: MessageLog): void {
    const known = this.#recordings.get(series.id);
    const recording = known ?? {
      series,
      samples: new SampleRing(SAMPLES_MAX),
      withoutNumber: 0,
      notDecoded: 0,
    };
    this.#recordings.set(series.id, recording);
    this.#byTopic = new Map();
    if (known === undefined && log !== undefined) lookBack(recording, log);
  }

  remove(id: string): void {
    this.#recordings.delete(id);
    this.#byTopic = new Map();
  }

  clear(): void {
    for (const recording of this.#recordings.values()) {
      recording.samples.clear();
      recording.withoutNumber = 0;
      recording.notDecoded = 0;
    }
  }

  /** A gap is stored even without a series, since a later series may look back. */
  note(marks: readonly PlacedMark[]): void {
    const found = marks.flatMap(({ mark }) =>
      mark.kind === 'away' || mark.kind === 'reloaded' ? [(mark.fromMs + mark.atMs) / 2] : [],
    );
    if (found.length > 0) this.#gaps = [...this.#gaps, ...found].slice(-GAPS_MAX);
  }

  take(messages: readonly LoggedMessage[]): void {
    if (this.#recordings.size === 0) return;
    let bytesLeft = DECODED_BYTES_PER_BATCH_MAX;
    for (const message of messages) {
      if (message.direction !== 'received') continue;
      const recordings = this.#of(message.topic);
      if (recordings.length > 0) bytesLeft -= sample(message, recordings, bytesLeft);
    }
  }

  #of(topic: string): readonly Recording[] {
    let recordings = this.#byTopic.get(topic);
    if (recordings === undefined) {
      recordings = [...this.#recordings.values()].filter(({ series }) => matches(series.topicFilter, topic));
      if (this.#byTopic.size >= TOPICS_MAX) this.#byTopic.clear();
      this.#byTopic.set(topic, recordings);
    }
    return recordings;
  }
}

/** @returns bytes that were decoded for it */
function sample(message: LoggedMessage, recordings: readonly Recording[], bytesLeft: number): number {
  let value: DecodedValue;
  let decodedBytes = 0;
  for (const recording of recordings) {
    const { source } = recording.series;
    let number: number | undefined;
    if (source.kind !== 'value') {
      number = source.kind === 'latency' ? message.latencyMs : message.missingBefore;
    } else if (message.payloadLength > Math.min(bytesLeft, PAYLOAD_BYTES_MAX)) {
      recording.notDecoded += 1;
      continue;
    } else {
      // Decoded once for all series of the topic.
      if (decodedBytes === 0) value = decodeValue(message.payload, PAYLOAD_BYTES_MAX, message.topic);
      decodedBytes = Math.max(1, message.payloadLength);
      number = numberOf(valueAt(value, source.path) as DecodedValue);
    }
    if (number === undefined) recording.withoutNumber += 1;
    else recording.samples.push(message.atMs, number);
  }
  return decodedBytes;
}

function lookBack(recording: Recording, log: MessageLog): void {
  const isOfSeries = (message: LoggedMessage | undefined): message is LoggedMessage =>
    message?.direction === 'received' && matches(recording.series.topicFilter, message.topic);
  const oldest = Math.max(log.firstSequence, log.endSequence - LOOK_BACK_MESSAGES_MAX);
  let first = log.endSequence;
  let bytesLeft = LOOK_BACK_BYTES_MAX;
  while (first > oldest && bytesLeft > 0) {
    first -= 1;
    const message = log.at(first);
    if (isOfSeries(message)) bytesLeft -= message.payloadLength;
  }
  for (let sequence = first; sequence < log.endSequence; sequence += 1) {
    const message = log.at(sequence);
    if (isOfSeries(message)) sample(message, [recording], PAYLOAD_BYTES_MAX);
  }
}
