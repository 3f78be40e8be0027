import { Unavailable } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';

/** The sessions of a client are at another process, or on their way to one: its next attempt finds them. */
export class NotHere extends Unavailable {
  override readonly name = 'NotHere';
  readonly reasonCode = ReasonCode.ServerBusy;
}
