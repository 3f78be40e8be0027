import type { QueueAction } from './actions/action.ts';
import { readQueueOptions } from './actions/create-queue.ts';
import {
  changeMessageVisibility,
  changeMessageVisibilityBatch,
  deleteMessage,
  deleteMessageBatch,
} from './actions/inflight.ts';
import { purgeQueue } from './actions/purge.ts';
import { getQueueAttributes } from './actions/queue-attributes.ts';
import { receiveMessage } from './actions/receive.ts';
import { sendMessage, sendMessageBatch } from './actions/send.ts';
import { invalidParameter, queueNameExists, requestThrottled, SqsError, unknownOperation } from './errors.ts';
import type { SqsCall } from './faults.ts';
import { type Input, parseInput, requiredText } from './input.ts';
import type { SqsService } from './service.ts';

/** A request in AWS JSON 1.0, as far as it matters. */
export interface SqsRequest {
  /** `X-Amz-Target` without `AmazonSQS.`: SendMessage, … */
  readonly action: string;
  readonly body: string;
  readonly environmentId: string | undefined;
  readonly signals: readonly AbortSignal[];
  readonly pause: () => () => void;
}

export interface SqsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

const QUEUE_ACTIONS: Readonly<Record<string, QueueAction>> = {
  ChangeMessageVisibility: changeMessageVisibility,
  ChangeMessageVisibilityBatch: changeMessageVisibilityBatch,
  DeleteMessage: deleteMessage,
  DeleteMessageBatch: deleteMessageBatch,
  GetQueueAttributes: getQueueAttributes,
  PurgeQueue: purgeQueue,
  ReceiveMessage: receiveMessage,
  SendMessage: sendMessage,
  SendMessageBatch: sendMessageBatch,
};

/** Never rejects for an error that SQS would answer; a defect of the emulator itself rejects. */
export async function answer(service: SqsService, request: SqsRequest): Promise<SqsAnswer> {
  try {
    return { status: 200, headers: {}, body: await perform(service, request, parseInput(request.body)) };
  } catch (error) {
    if (!(error instanceof SqsError)) throw error;
    const fault = error.senderFault ? 'Sender' : 'Receiver';
    return {
      status: error.status,
      headers: { 'x-amzn-query-error': `${error.code};${fault}` },
      body: { __type: error.type, message: error.message },
    };
  }
}

async function perform(service: SqsService, request: SqsRequest, input: Input): Promise<object> {
  switch (request.action) {
    case 'GetQueueUrl':
      return { QueueUrl: service.find(requiredText(input, 'QueueName')).parts.url };
    case 'CreateQueue':
      return { QueueUrl: createQueue(service, input) };
    default: {
      const act = Object.hasOwn(QUEUE_ACTIONS, request.action) ? QUEUE_ACTIONS[request.action] : undefined;
      if (act === undefined) throw unknownOperation(request.action);
      return await onQueue(service, request, input, act);
    }
  }
}

async function onQueue(
  service: SqsService,
  request: SqsRequest,
  input: Input,
  act: QueueAction,
): Promise<object> {
  const { action, environmentId, pause, signals } = request;
  const { dice, faults, random, tally } = service.parts;
  const queue = service.findByUrl(requiredText(input, 'QueueUrl'));
  const call: SqsCall = {
    action,
    queueName: queue.name,
    ...(environmentId !== undefined && { environmentId }),
  };
  let payloadBytes = 0;
  const bill = (bytes: number): void => {
    payloadBytes = bytes;
  };
  const latencyMs = dice.delayMs(faults.sqsLatencyMs, call);
  const untilEffectMs = latencyMs > 0 ? random.next() * latencyMs : 0;
  await service.sleep(untilEffectMs);
  try {
    if (dice.strikes('sqsThrottled', faults.sqsThrottled, call)) throw requestThrottled();
    return await act({ queue, input, call, signals, pause, bill, senderId: senderIdOf(environmentId) });
  } finally {
    await service.sleep(latencyMs - untilEffectMs);
    const isEmpty = action === 'ReceiveMessage' && payloadBytes === 0;
    tally.request(queue.parts.settings.fifo ? 'fifo' : 'standard', action, payloadBytes, isEmpty);
  }
}

/** A queue with the same attributes is not created a second time, but found. */
function createQueue(service: SqsService, input: Input): string {
  const options = readQueueOptions(input);
  if (service.has(options.name)) {
    const { settings, url } = service.find(options.name).parts;
    const isSame = Object.entries(options).every(([name, value]) =>
      isEqual(settings[name as keyof typeof settings], value),
    );
    if (!isSame) throw queueNameExists();
    return url;
  }
  try {
    return service.create(options).parts.url;
  } catch (error) {
    throw invalidParameter(error instanceof Error ? error.message : String(error));
  }
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A role's id and the name of its session, as AWS writes it. */
function senderIdOf(environmentId = 'caller'): string {
  return `AROAEMULATEDLAMBDAROLE:${environmentId}`;
}
