import { Call } from './call.ts';
import {
  internalError,
  ServiceError,
  serializationError,
  throttled,
  throughputExceeded,
  unknownOperation,
} from './errors.ts';
import type { DynamoDbCall } from './faults.ts';
import { LIMITS } from './limits.ts';
import { CONTROL_PLANE, OPERATIONS } from './operations/index.ts';
import type { ServiceParts } from './service-parts.ts';
import { subjectOf } from './subject.ts';

export interface Answer {
  readonly status: number;
  readonly body: object;
  readonly requestId: string;
}

/** A request that has been parsed, and has not taken effect yet. */
export interface Request {
  readonly subject: DynamoDbCall;
  readonly sent: unknown;
}

/** Characters of a request id of DynamoDB's. */
const REQUEST_ID_LENGTH = 52;

/**
 * DynamoDB without its protocol: takes the fields of a request, returns the fields of its answer. Its code never waits.
 */
export class Service {
  readonly parts: ServiceParts;
  #requests = 0;

  constructor(parts: ServiceParts) {
    this.parts = parts;
  }

  /** Reads the subject of a request. `answer` reports a request that cannot be read. */
  read(operation: string, body: string, environmentId: string | undefined): Request {
    const sent = parse(body);
    return { sent, subject: subjectOf(operation, sent, environmentId, this.parts.tables) };
  }

  /** Takes effect, unless it is refused. */
  answer(request: Request): Answer {
    const { counters } = this.parts;
    this.#requests += 1;
    const requestId = this.#requests.toString(36).toUpperCase().padStart(REQUEST_ID_LENGTH, '0');
    try {
      return { status: 200, body: this.#perform(request), requestId };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      counters.error(error.exception);
      return { status: error.status, body: error.body, requestId };
    }
  }

  #perform({ subject, sent }: Request): object {
    const operation = OPERATIONS.get(subject.operation);
    if (operation === undefined) throw unknownOperation();
    const call = new Call(this.parts, subject);
    try {
      this.#refuseByChance(subject);
      if (sent instanceof ServiceError) throw sent;
      return operation(call, sent);
    } finally {
      this.parts.counters.request(subject.operation, call.usage);
    }
  }

  #refuseByChance(subject: DynamoDbCall): void {
    if (CONTROL_PLANE.has(subject.operation)) return;
    const { dice, faults, random } = this.parts;
    if (dice.strikes('throttle', faults.throttle, subject)) {
      throw random.happens(0.5) ? throughputExceeded() : throttled();
    }
    if (dice.strikes('fails', faults.fails, subject)) throw internalError();
  }
}

function parse(body: string): unknown {
  if (Buffer.byteLength(body) > LIMITS.requestBytesMax) {
    return new ServiceError('RequestEntityTooLarge', 'Request Entity Too Large', 413);
  }
  try {
    return JSON.parse(body);
  } catch {
    return serializationError('Unexpected token received from parser');
  }
}
