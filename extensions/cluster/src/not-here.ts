import { Unavailable } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';

/** The client's sessions are at another process, or moving to one. Its next attempt finds them. */
export class NotHere extends Unavailable {
  override readonly name = 'NotHere';
  readonly reasonCode = ReasonCode.ServerBusy;
}
