import type { ValuesOf } from '@apus/aws/function-options';
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IHostedZone } from 'aws-cdk-lib/aws-route53';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { ALARMS, BREAKER } from './option-groups.ts';

export interface BreakerProps extends ValuesOf<typeof BREAKER> {}

export interface AlarmProps extends ValuesOf<typeof ALARMS> {
  /** Your own topic for notifications. @default a topic of the construct */
  readonly topic?: ITopic;
}

export interface BudgetProps {
  /** At least 1. It sends mail when 80 % are spent, and when the month's forecast exceeds it. */
  readonly dollarsPerMonth: number;
  /** The mail address. */
  readonly email: string;
}

export interface DomainProps {
  /** Such as `mqtt.example.com`; the URL is then `wss://mqtt.example.com/mqtt`. */
  readonly domainName: string;
  /** A certificate for the name, in the Region of the stack. */
  readonly certificate: ICertificate;
  /**
   * The hosted zone for the name's records.
   * @default you point the name at the output `DomainTarget` yourself
   */
  readonly hostedZone?: IHostedZone;
}

export interface AccessLogProps {
  /** @default RetentionDays.ONE_WEEK */
  readonly retention?: RetentionDays;
  /**
   * API Gateway writes logs with a role that is set once for an account and Region. `true` sets one, and leaves it when
   * the stack is deleted; `false` if the account has one.
   * @default true
   */
  readonly setAccountRole?: boolean;
}
