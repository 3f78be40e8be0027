import { rulesAuthorizer } from '@apus/broker';
import { describe, it } from 'vitest';
import { connectMqttJs } from '../support/mqttjs.ts';
import { ACCESSES, TENANT_STREAMS } from '../support/tenants/accesses.ts';
import { tenantsByUsername } from '../support/tenants/program.ts';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';

describe(withOptions('a client of another tenant sees nothing'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({
    authenticator: tenantsByUsername,
    authorizer: rulesAuthorizer,
    streams: TENANT_STREAMS,
  });

  it.each(Object.entries(ACCESSES))('by %s [SEC-TENANT-2]', async (_, tryAccess) => {
    await tryAccess({
      connectMqtt: (options) => connectMqttJs(door.url, options),
      own: unique('acme'),
      other: unique('other'),
      // Both doors of a node deliver before they acknowledge.
      delivered: async () => {},
    });
  });
});
