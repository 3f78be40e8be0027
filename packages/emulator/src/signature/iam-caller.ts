import type { CallerIdentity } from '../gateway/events.ts';

/** An IAM user, or a session of a role, that may sign handshakes. */
export interface IamCaller {
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    /** Only of temporary credentials. */
    readonly sessionToken?: string;
  };
  /** The caller as `$connect` gets it. */
  readonly identity: Omit<CallerIdentity, 'accessKey'>;
  /** An IAM policy document. @default one that allows everything */
  readonly policyDocument?: unknown;
}
