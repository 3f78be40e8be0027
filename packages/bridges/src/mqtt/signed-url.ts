import { AwsV4Signer } from 'aws4fetch';

/** Credentials of AWS, as the SDK's providers give them. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** The name of IoT Core's WebSocket endpoint in signatures; a session token is added behind the signature there. */
const SERVICE = 'iotdevicegateway';
/** A handshake follows within seconds. */
const EXPIRES_SECONDS = 300;

/**
 * The address of a WebSocket of AWS IoT Core with a Signature Version 4 in its query
 * (https://docs.aws.amazon.com/iot/latest/developerguide/protocols.html). mqtt.js asks for it at the moment of a
 * connection, and signing takes a while: each address is made ahead, when the connection before has ended.
 */
export class SignedUrl {
  readonly #url: string;
  readonly #region: string;
  readonly #credentials: () => Promise<AwsCredentials>;
  #signed: string | undefined;

  constructor(url: string, region: string, credentials: () => Promise<AwsCredentials>) {
    this.#url = url;
    this.#region = region;
    this.#credentials = credentials;
  }

  /** The newest that could be made. Without a signature before the first: IoT Core refuses it, and the next one follows. */
  get current(): string {
    return this.#signed ?? this.#url;
  }

  /** Rejects where there are no credentials. */
  async refresh(): Promise<void> {
    const { accessKeyId, secretAccessKey, sessionToken } = await this.#credentials();
    const url = new URL(this.#url);
    url.searchParams.set('X-Amz-Expires', String(EXPIRES_SECONDS));
    const signer = new AwsV4Signer({
      ...{ method: 'GET', url: url.href, service: SERVICE, region: this.#region, signQuery: true },
      ...{ accessKeyId, secretAccessKey },
      ...(sessionToken !== undefined && { sessionToken }),
    });
    this.#signed = (await signer.sign()).url.href;
  }
}
