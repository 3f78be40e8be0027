import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface Signing {
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly region?: string;
  readonly service?: string;
  readonly signingDate?: Date;
  readonly expiresIn?: number;
  readonly query?: Readonly<Record<string, string>>;
}

interface HttpRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** AWS's own signer, which each of its clients contains; its types do not declare all of its methods. */
interface Signer {
  presign(
    request: HttpRequest,
    options: {
      readonly signingService: string;
      readonly signingDate: Date;
      readonly expiresIn: number;
    },
  ): Promise<HttpRequest>;
}

/** A URL that is signed for `execute-api`, as a backend signs it for browsers. */
export async function presignedUrl(url: string, signing: Signing): Promise<string> {
  const { host, hostname, port, pathname } = new URL(url);
  const { credentials, region = 'us-east-1', service = 'execute-api' } = signing;
  const { signingDate = new Date(), expiresIn = 300, query = {} } = signing;
  const client = new DynamoDBClient({ region, credentials });
  const signer = (await client.config.signer()) as unknown as Signer;
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: 'ws:',
      hostname,
      port: Number(port),
      path: pathname,
      query,
      headers: { host },
    },
    { signingService: service, signingDate, expiresIn },
  );
  return `${url}?${new URLSearchParams(signed.query)}`;
}
