import { describe, expect, it } from 'vitest';
import { FileProblem } from '../../../src/features/transfer/file-problem.ts';
import { FILE_BYTES_MAX } from '../../../src/features/transfer/limits.ts';
import { messagesFile } from '../../../src/features/transfer/messages-file.ts';
import type { FileContent } from '../../../src/features/transfer/read-file.ts';
import { type ReadReport, reportFile } from '../../../src/features/transfer/read-reports.ts';
import { type ReadingWorker, startReading } from '../../../src/features/transfer/start-reading.ts';
import { message } from '../message.ts';

/** A worker without a thread: reports are cloned as between threads, and come when they are let out. */
class StandIn extends EventTarget implements ReadingWorker {
  readonly reports: ReadReport[] = [];
  isTerminated = false;
  whenRead: Promise<void> = Promise.resolve();

  postMessage(file: Blob): void {
    this.whenRead = reportFile(file, (report, transfer) => {
      this.reports.push(structuredClone(report, { transfer }));
    });
  }

  terminate(): void {
    this.isTerminated = true;
  }

  letOut(report: ReadReport): void {
    this.dispatchEvent(new MessageEvent('message', { data: report }));
  }

  fail(reason: string): void {
    this.dispatchEvent(Object.assign(new Event('error'), { message: reason }));
  }
}

class Reading {
  readonly worker = new StandIn();
  readonly results: (FileContent | FileProblem)[] = [];
  readonly stop: () => void;

  constructor(file: Blob) {
    this.stop = startReading(
      file,
      {
        onResult: (result) => this.results.push(result),
      },
      () => this.worker,
    );
  }

  static of(...pieces: readonly string[]): Reading {
    return new Reading(new Blob([...pieces]));
  }

  async finished(): Promise<void> {
    await this.worker.whenRead;
    for (const report of this.worker.reports) this.worker.letOut(report);
  }
}

describe('a file that is read in a worker', () => {
  it('comes over in pieces whose payloads share a buffer, and is whole at the end', async () => {
    const sent = Array.from({ length: 1_203 }, (_, index) =>
      message(`a/${index}`, `payload ${index}`, { atMs: index }),
    );
    const reading = Reading.of(...messagesFile(sent, 'jsonl'));
    await reading.finished();
    const pieces = reading.worker.reports.flatMap((report) => (report.type === 'piece' ? [report] : []));
    expect(pieces.map(({ messages }) => messages.length)).toEqual([500, 500, 203]);
    for (const { messages } of pieces)
      expect(new Set(messages.map(({ payload }) => payload.buffer)).size).toBe(1);
    const [result] = reading.results;
    if (result instanceof FileProblem || result?.type !== 'messages') throw new Error('no messages');
    const text = new TextDecoder();
    expect(result.messages.map(({ topic, payload }) => [topic, text.decode(payload)])).toEqual(
      sent.map(({ topic, payload }) => [topic, text.decode(payload)]),
    );
    expect(reading.worker.isTerminated).toBe(true);
  });

  it('ends a piece when its payloads are large', async () => {
    const large = 'x'.repeat(700_000);
    const reading = Reading.of(
      ...messagesFile([message('a', large), message('b', large), message('c', '')], 'jsonl'),
    );
    await reading.finished();
    const pieces = reading.worker.reports.flatMap((report) => (report.type === 'piece' ? [report] : []));
    expect(pieces.map(({ messages }) => messages.length)).toEqual([2, 1]);
  });

  it('is answered with the error, and its line', async () => {
    const reading = Reading.of(
      '\n{"topic": "a", "payloadText": ""}\n\n{"topic": "a/#", "payloadText": ""}\n',
    );
    await reading.finished();
    expect(reading.results).toMatchObject([{ key: 'topic', place: { kind: 'line', number: 4 } }]);
    expect(reading.results[0]).toBeInstanceOf(FileProblem);
    expect(reading.worker.isTerminated).toBe(true);
  });

  it('is refused unread when it is too large', async () => {
    const reading = new Reading({ size: FILE_BYTES_MAX + 1 } as Blob);
    await reading.finished();
    expect(reading.results).toMatchObject([{ key: 'tooLarge' }]);
  });

  it('reports nothing any more after it is stopped', async () => {
    const reading = Reading.of('{"topic": "a", "payloadText": ""}');
    reading.stop();
    await reading.finished();
    reading.worker.fail('late');
    expect(reading.worker.isTerminated).toBe(true);
    expect(reading.worker.reports.length).toBeGreaterThan(0);
    expect(reading.results).toEqual([]);
  });

  it('says so when the worker fails', () => {
    const reading = Reading.of('{}');
    reading.worker.fail('out of memory');
    expect(reading.results).toMatchObject([{ key: 'unreadable', values: { detail: 'out of memory' } }]);
  });
});
