import { encode as encodeCbor } from 'cborg';
import { describe, expect, it } from 'vitest';
import { BoundedMessageLog } from '../../../src/engine/log/message-log.ts';
import {
  DECODED_BYTES_PER_BATCH_MAX,
  LOOK_BACK_MESSAGES_MAX,
  PAYLOAD_BYTES_MAX,
} from '../../../src/features/charts/limits.ts';
import { Recorder, type Recording } from '../../../src/features/charts/recorder.ts';
import { type SampleSource, type Series, seriesKey } from '../../../src/features/charts/series.ts';
import { message, messageFields } from '../message.ts';

function series(topicFilter: string, source: SampleSource, id = 'one'): Series {
  return { id, connectionId: 'test', topicFilter, source, isHidden: false };
}

const value = (...path: (string | number)[]): SampleSource => ({ kind: 'value', path });

function recordingOf(recorder: Recorder, id = 'one'): Recording {
  const recording = recorder.get(id);
  if (recording === undefined) throw new Error(`nothing records ${id}`);
  return recording;
}

function valuesOf(recorder: Recorder, id = 'one'): number[] {
  const { samples } = recordingOf(recorder, id);
  return Array.from({ length: samples.size }, (_, index) => samples.valueAt(index));
}

describe('a series', () => {
  it('takes numbers of its path from the messages of its topic alone', () => {
    const recorder = new Recorder();
    recorder.add(series('room/1', value('air', 'temperature')));
    recorder.take([
      message('room/1', '{"air":{"temperature":21.5}}', { atMs: 100 }),
      message('room/2', '{"air":{"temperature":99}}'),
      message('room/1', '{"air":{"temperature":"22"}}', { atMs: 200 }),
      message('room/1', '{"air":{}}'),
      message('room/1', 'no json'),
      message('room/1', '{"air":{"temperature":5}}', { direction: 'published' }),
    ]);
    expect(valuesOf(recorder)).toEqual([21.5, 22]);
    expect(recordingOf(recorder).samples.timeAt(1)).toBe(200);
    expect(recordingOf(recorder)).toMatchObject({ withoutNumber: 2, notDecoded: 0 });
  });

  it('takes payloads that are numbers, CBOR, and topics of a filter', () => {
    const recorder = new Recorder();
    recorder.add(series('plain/+', value()));
    recorder.add(series('binary', value('t', 1), 'two'));
    recorder.take([
      message('plain/a', '1.5'),
      message('plain/b', '-2'),
      message('binary', encodeCbor({ t: [1, 7] })),
    ]);
    expect(valuesOf(recorder)).toEqual([1.5, -2]);
    expect(valuesOf(recorder, 'two')).toEqual([7]);
  });

  it('takes latencies, and how many sequence numbers are missing', () => {
    const recorder = new Recorder();
    recorder.add(series('a', { kind: 'latency' }));
    recorder.add(series('a', { kind: 'missing' }, 'two'));
    recorder.take([message('a', '', { latencyMs: 12, missingBefore: 3 }), message('a')]);
    expect(valuesOf(recorder)).toEqual([12]);
    expect(recordingOf(recorder).withoutNumber).toBe(1);
    expect(valuesOf(recorder, 'two')).toEqual([3, 0]);
  });

  it('begins with what the log still holds, and keeps its samples when it is added again', () => {
    const log = new BoundedMessageLog();
    log.append(
      Array.from({ length: LOOK_BACK_MESSAGES_MAX + 5 }, (_, index) => messageFields('a', String(index))),
    );
    const recorder = new Recorder();
    recorder.add(series('a', value()), log);
    expect(valuesOf(recorder)).toHaveLength(LOOK_BACK_MESSAGES_MAX);
    expect(valuesOf(recorder)[0]).toBe(5);
    recorder.add(series('a', value()), log);
    expect(valuesOf(recorder)).toHaveLength(LOOK_BACK_MESSAGES_MAX);
  });

  it('ends when it is removed', () => {
    const recorder = new Recorder();
    recorder.add(series('a', value()));
    recorder.take([message('a', '1')]);
    recorder.remove('one');
    recorder.take([message('a', '2')]);
    expect(recorder.get('one')).toBeUndefined();
  });

  it('is empty after it was cleared, and goes on', () => {
    const recorder = new Recorder();
    recorder.add(series('a', value()));
    recorder.take([message('a', '1'), message('a', 'x')]);
    recorder.clear();
    expect(recordingOf(recorder).withoutNumber).toBe(0);
    recorder.take([message('a', '2')]);
    expect(valuesOf(recorder)).toEqual([2]);
  });

  it('is the same as another with the same path, however that is written', () => {
    expect(seriesKey(series('a', value('x y', 0)))).toBe(seriesKey(series('a', value('x y', 0), 'other')));
    expect(seriesKey(series('a', value('x')))).not.toBe(seriesKey(series('a', value('y'))));
    expect(seriesKey(series('a', value()))).not.toBe(seriesKey(series('a', { kind: 'latency' })));
  });
});

describe('the limits of what is decoded', () => {
  it('leave out a payload that is too large, and count it', () => {
    const recorder = new Recorder();
    recorder.add(series('a', value()));
    recorder.take([
      message('a', '1'.padEnd(PAYLOAD_BYTES_MAX + 1)),
      message('a', '2'.padEnd(PAYLOAD_BYTES_MAX)),
    ]);
    expect(valuesOf(recorder)).toEqual([2]);
    expect(recordingOf(recorder).notDecoded).toBe(1);
  });

  it('leave out messages beyond the limit of one batch, and take the next batch again', () => {
    const recorder = new Recorder();
    recorder.add(series('a', value()));
    const fitting = DECODED_BYTES_PER_BATCH_MAX / PAYLOAD_BYTES_MAX;
    const large = Array.from({ length: fitting + 3 }, () => message('a', '1'.padEnd(PAYLOAD_BYTES_MAX)));
    recorder.take(large);
    expect(valuesOf(recorder)).toHaveLength(fitting);
    expect(recordingOf(recorder).notDecoded).toBe(3);
    recorder.take([message('a', '2')]);
    expect(valuesOf(recorder)).toHaveLength(fitting + 1);
  });

  it('decode a message once for all series of its topic', () => {
    const recorder = new Recorder();
    const payload = '1'.padEnd(PAYLOAD_BYTES_MAX);
    for (const id of ['one', 'two', 'three', 'four', 'five']) recorder.add(series('a', value(), id));
    recorder.take(Array.from({ length: 4 }, () => message('a', payload)));
    expect(recordingOf(recorder, 'five')).toMatchObject({ notDecoded: 0 });
    expect(valuesOf(recorder, 'five')).toHaveLength(4);
  });
});
