import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IHostedZone } from 'aws-cdk-lib/aws-route53';
import type { ITopic } from 'aws-cdk-lib/aws-sns';

export interface BreakerProps {
  /**
   * Messages to and from clients in one minute beyond which the breaker trips, from 1,000 up. The default is $6.00 an
   * hour of messages, and about as much again for the functions and the table.
   *
   * @default 100,000
   */
  readonly messagesPerMinuteMax?: number;
  /**
   * Minutes after which a tripped breaker closes by itself, up to 1,440, to the next look, which is every ten minutes.
   * A runaway that goes on trips it again after some three minutes. 0: the owner has to reset it.
   *
   * @default 20
   */
  readonly resetMinutes?: number;
}

export interface AlarmProps {
  /** Gets a mail from each alarm, once it has confirmed the subscription. @default none */
  readonly email?: string;
  /** A topic of yours that is told instead of one of the construct's. @default a topic of the construct's */
  readonly topic?: ITopic;
  /**
   * Milliseconds beyond which one frame in a hundred, for five minutes, sets off an alarm; from 10 to 5,000. $0.10 a month.
   *
   * @default no such alarm: the right number depends on the memory of the functions and on what clients do
   */
  readonly frameMilliseconds?: number;
  /** An alarm when no sweep has run for half an hour. $0.10 a month. @default false: there is one for sweeps that fail */
  readonly sweepMissing?: boolean;
}

export interface BudgetProps {
  /** From 1 up. It mails when 80 % of it are spent, and when the forecast of the month is beyond it. */
  readonly dollarsPerMonth: number;
  /** Where it mails to. */
  readonly email: string;
}

export interface DomainProps {
  /** As `mqtt.example.com`; its URL is then `wss://mqtt.example.com/mqtt`. */
  readonly domainName: string;
  /** A certificate for the name, in the Region of the stack. */
  readonly certificate: ICertificate;
  /** Where the name's records are made. @default you point the name at the output `DomainTarget` yourself */
  readonly hostedZone?: IHostedZone;
}

export interface AccessLogProps {
  /** @default RetentionDays.ONE_WEEK */
  readonly retention?: RetentionDays;
  /**
   * API Gateway writes logs with a role that is set once for an account and Region. `true` sets one, and leaves it
   * there when the stack is deleted; `false` when the account has one.
   *
   * @default true
   */
  readonly setAccountRole?: boolean;
}
