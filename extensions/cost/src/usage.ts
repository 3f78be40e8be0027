import { GIGABYTE } from './price.ts';
import type { PriceName } from './price-book.ts';

/** The usage of the gateway door by a run or in a month, in billed units. */
export interface Usage {
  /** Frames from clients, by 32 KB begun. */
  readonly gatewayMessagesIn: number;
  /** Replies, posts and error frames to clients, by 32 KB begun. */
  readonly gatewayMessagesOut: number;
  readonly connectionMinutes: number;
  readonly lambdaRequests: number;
  /** arm64, INIT included. */
  readonly lambdaGigabyteSeconds: number;
  readonly dynamodbReadUnits: number;
  readonly dynamodbWriteUnits: number;
  readonly dynamodbStorageGigabyteMonths: number;
  readonly sqsStandardRequests: number;
  readonly sqsFifoRequests: number;
  /** Polls of a standard queue by event source mappings, empty or not. */
  readonly sqsStandardPolls: number;
  readonly sqsFifoPolls: number;
  readonly iotRulesTriggered: number;
  readonly iotRuleActions: number;
  readonly schedulerInvocations: number;
  readonly logBytes: number;
  readonly dataTransferOutBytes: number;
  readonly secretMonths: number;
  readonly kmsKeyMonths: number;
  readonly dashboardMonths: number;
  readonly alarmMonths: number;
  /** Metrics that are written, without those of AWS's services. */
  readonly metricMonths: number;
  /** Metrics that are requested with GetMetricData. */
  readonly metricsRead: number;
}

export type UsageName = keyof Usage;

/** How a kind of usage becomes a line of the bill. */
export interface UsageKind {
  readonly price: PriceName;
  readonly label: string;
  /** Units of the usage that make one unit of the price. @default 1 */
  readonly perUnit?: number;
}

/** Kinds in the order of a bill without prices. */
export const USAGE_KINDS: { readonly [K in UsageName]: UsageKind } = {
  gatewayMessagesIn: { price: 'gatewayMessage', label: 'Gateway messages in' },
  gatewayMessagesOut: { price: 'gatewayMessage', label: 'Gateway messages out' },
  connectionMinutes: { price: 'gatewayConnectionMinute', label: 'Connection-minutes' },
  lambdaRequests: { price: 'lambdaRequest', label: 'Lambda requests' },
  lambdaGigabyteSeconds: { price: 'lambdaGigabyteSecond', label: 'Lambda GB-seconds' },
  dynamodbReadUnits: { price: 'dynamodbReadUnit', label: 'DynamoDB read units' },
  dynamodbWriteUnits: { price: 'dynamodbWriteUnit', label: 'DynamoDB write units' },
  dynamodbStorageGigabyteMonths: { price: 'dynamodbStorage', label: 'DynamoDB storage, GB-months' },
  sqsStandardRequests: { price: 'sqsStandardRequest', label: 'SQS standard requests' },
  sqsFifoRequests: { price: 'sqsFifoRequest', label: 'SQS FIFO requests' },
  sqsStandardPolls: { price: 'sqsStandardRequest', label: 'SQS standard polling' },
  sqsFifoPolls: { price: 'sqsFifoRequest', label: 'SQS FIFO polling' },
  iotRulesTriggered: { price: 'iotRuleTriggered', label: 'IoT rules triggered' },
  iotRuleActions: { price: 'iotRuleAction', label: 'Actions of IoT rules' },
  schedulerInvocations: { price: 'schedulerInvocation', label: 'Scheduler invocations' },
  logBytes: { price: 'logsIngestion', label: 'Logs, GB', perUnit: GIGABYTE },
  dataTransferOutBytes: { price: 'dataTransferOut', label: 'Data transfer out, GB', perUnit: GIGABYTE },
  secretMonths: { price: 'secret', label: 'Secrets' },
  kmsKeyMonths: { price: 'kmsKey', label: 'KMS keys' },
  dashboardMonths: { price: 'dashboard', label: 'Dashboards' },
  alarmMonths: { price: 'alarm', label: 'Alarms' },
  metricMonths: { price: 'metric', label: 'Metrics' },
  metricsRead: { price: 'metricRead', label: 'Metrics read' },
};

export const USAGE_NAMES = Object.keys(USAGE_KINDS) as readonly UsageName[];

function usageFrom(quantity: (name: UsageName) => number): Usage {
  return Object.fromEntries(USAGE_NAMES.map((name) => [name, quantity(name)])) as unknown as Usage;
}

/** A usage with the given amounts, and 0 for the others. */
export function usage(given: Partial<Usage> = {}): Usage {
  return usageFrom((name) => given[name] ?? 0);
}

export function addUsage(...parts: readonly Partial<Usage>[]): Usage {
  return usageFrom((name) => parts.reduce((sum, part) => sum + (part[name] ?? 0), 0));
}

/** This many times as much of everything. */
export function scaleUsage(given: Partial<Usage>, factor: number): Usage {
  return usageFrom((name) => (given[name] ?? 0) * factor);
}
