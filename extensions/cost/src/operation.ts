import type { Units } from './budgets.ts';
import { addUsage, type Usage, usage } from './usage.ts';
import type { Workload } from './workload.ts';

export type OperationName =
  | 'online'
  | 'connect'
  | 'subscribe'
  | 'disconnect'
  | 'heartbeat'
  | 'move'
  | 'resume'
  | 'loss'
  | 'publish'
  | 'deliver'
  | 'fan-out'
  | 'keep'
  | 'drain'
  | 'append'
  | 'recover'
  | 'snapshot'
  | 'history'
  | 'kafka'
  | 'iot-core'
  | 'rules'
  | 'sweep'
  | 'figures'
  | 'standing';

/** One kind of event: how often it happens in a month, and the usage that it causes. */
export interface Operation {
  readonly name: OperationName;
  readonly count: number;
  readonly usage: Usage;
}

/** Bytes of base64 in a text frame, without a marker or a clock. */
export function frameBytes(mqttBytes: number): number {
  return Math.ceil(mqttBytes / 3) * 4;
}

/** Invocations of a Lambda function, each of this many milliseconds, with its log. */
export function invocations(count: number, milliseconds: number, workload: Workload): Usage {
  const gigabytes = workload.memoryMegabytes / 1_024;
  return usage({
    lambdaRequests: count,
    lambdaGigabyteSeconds: count * gigabytes * (milliseconds / 1_000),
    logBytes: count * workload.logBytesPerFrame,
  });
}

/** Frames from clients and their answers, each frame handled by one invocation. */
export function exchanges(
  count: number,
  workload: Workload,
  { answers = count, answerBytes }: { answers?: number; answerBytes: number },
): Usage {
  return addUsage(invocations(count, workload.frameMs, workload), {
    gatewayMessagesIn: count,
    gatewayMessagesOut: answers,
    dataTransferOutBytes: answers * frameBytes(answerBytes),
  });
}

export function units(count: number, { reads, writes }: Units): Usage {
  return usage({ dynamodbReadUnits: count * reads, dynamodbWriteUnits: count * writes });
}
