import { Shuffler } from '@apus/emulator/service';
import { internalError } from './errors.ts';
import type { DynamoDbCall } from './faults.ts';
import { CONTROL_PLANE } from './operations/index.ts';
import type { Answer, Service } from './service.ts';

/** Carries requests to the service and answers back, with the delays and failures of the faults. */
export class Transport {
  readonly #service: Service;
  readonly #shuffler: Shuffler;

  constructor(service: Service) {
    this.#service = service;
    this.#shuffler = new Shuffler(service.parts.random.fork());
  }

  /** Rejects with a TimeoutError when the answer is lost on its way. */
  async carry(operation: string, body: string, environmentId: string | undefined): Promise<Answer> {
    const { dice, faults, random } = this.#service.parts;
    const request = this.#service.read(operation, body, environmentId);
    const { subject } = request;
    const latencyMs = dice.delayMs(faults.latencyMs, subject);
    const outwardMs = latencyMs === 0 ? 0 : latencyMs * random.next();
    if (outwardMs > 0) await this.#wait(outwardMs);
    if (dice.strikes('shuffle', faults.shuffle, subject)) {
      await new Promise<void>((resolve) => this.#shuffler.add(resolve));
    }
    const answer = this.#service.answer(request);
    if (latencyMs > outwardMs) await this.#wait(latencyMs - outwardMs);
    return this.#lose(answer, subject);
  }

  /** Only successful answers are lost: a refused request has no effect that could be in doubt. */
  #lose(answer: Answer, subject: DynamoDbCall): Answer {
    const { dice, faults } = this.#service.parts;
    if (answer.status !== 200 || CONTROL_PLANE.has(subject.operation)) return answer;
    if (dice.strikes('answerLost', faults.answerLost, subject)) throw timeoutError();
    if (!dice.strikes('failsAfterwards', faults.failsAfterwards, subject)) return answer;
    const error = internalError();
    return { ...answer, status: error.status, body: error.body };
  }

  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.#service.parts.clock.setTimer(ms, resolve));
  }
}

/** The error of the SDK's own transport for a missing answer. */
function timeoutError(): Error {
  return Object.assign(new Error('The connection broke before the answer came'), { name: 'TimeoutError' });
}
