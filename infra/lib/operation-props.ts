import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IHostedZone } from 'aws-cdk-lib/aws-route53';
import type { ITopic } from 'aws-cdk-lib/aws-sns';

export interface BreakerProps {
  /**
   * Messages to and from clients in one minute above which the breaker trips, from 1,000 up. The default is $6.00 an
   * hour of messages, and about as much again for the functions and the table.
   *
   * @default 100,000
   */
  readonly messagesPerMinuteMax?: number;
  /**
   * Minutes after which a tripped breaker closes by itself, up to 1,440, at the next check, which is every ten minutes.
   * A runaway that goes on trips it again after some three minutes. 0: the owner has to reset it.
   *
   * @default 20
   */
  readonly resetMinutes?: number;
}

export interface AlarmProps {
  /**
   * An address to which each alarm sends mail, once the owner has confirmed the subscription.
   * @default none
   */
  readonly email?: string;
  /**
   * Your own topic for notifications.
   * @default a topic of the construct
   */
  readonly topic?: ITopic;
  /**
   * Milliseconds; if one frame in a hundred takes longer, for five minutes, an alarm goes off. From 10 to 5,000. $0.10
   * a month.
   *
   * @default no such alarm: the right number depends on the memory of the functions and on the clients
   */
  readonly frameMilliseconds?: number;
  /**
   * An alarm if no sweep has run for half an hour. $0.10 a month.
   * @default false: there is an alarm for failed sweeps
   */
  readonly sweepMissing?: boolean;
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
   *
   * @default true
   */
  readonly setAccountRole?: boolean;
}
