import { Match } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { synthBroker } from './support/synth.ts';

it('a deployment takes tokens that tenants sign with keys of their own, and refuses a field that is not known', () => {
  const authenticators = [{ tenants: {} }, { jwt: { secretArn: 'generated' } }];
  const { template } = synthBroker({ identity: { authenticators } });
  template.hasResourceProperties('AWS::Lambda::Function', {
    Description: 'Apus: handshakes and frames of clients',
    Environment: { Variables: Match.objectLike({ APUS_IDENTITY: Match.anyValue() }) },
  });
  expect(() => synthBroker({ identity: { authenticators: [{ tenants: { key: 'x' } }] } })).toThrow(
    'has no field "key"',
  );
});
