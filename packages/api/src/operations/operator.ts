import { USAGE_STEPS } from '@apus/broker';
import { answer, json, type Operation, parameter } from '../operation.ts';
import { PROMETHEUS_TYPE } from '../prometheus.ts';
import { list, oneOf, ref, text } from '../schema.ts';
import { notFound, PAGING } from './parameters.ts';

const noRegister = answer('There is no register.', ref('Problem'));
const named = { name: parameter('Of the tenant.', text()) } as const;
const FROM_CLOUD_WATCH =
  'A deployment answers what its functions have counted this month (UTC), as CloudWatch has it up to five minutes ago.';
const hour = 'A month, a day or an hour in UTC, as 2026-11, 2026-11-25 or 2026-11-25T18.';

export const operatorOperations = {
  listTenants: {
    method: 'GET',
    path: '/tenants',
    tag: 'Tenants and usage',
    summary: 'Lists the register of tenants.',
    query: PAGING,
    answers: {
      200: answer('A page of tenants.', ref('TenantPage')),
      404: noRegister,
    },
    scope: 'broker',
  },
  createTenant: {
    method: 'POST',
    path: '/tenants',
    tag: 'Tenants and usage',
    summary: 'Creates a tenant.',
    body: json(ref('NewTenant')),
    answers: {
      201: answer('The tenant.', ref('Tenant')),
      404: noRegister,
    },
    scope: 'broker',
  },
  getTenant: {
    method: 'GET',
    path: '/tenants/:name',
    tag: 'Tenants and usage',
    summary: 'Describes one tenant.',
    parameters: named,
    answers: { 200: answer('The tenant.', ref('Tenant')), 404: notFound },
    scope: 'broker',
  },
  changeTenant: {
    method: 'PUT',
    path: '/tenants/:name',
    tag: 'Tenants and usage',
    summary: 'Sets fields of a tenant. A suspension has ended its clients with the answer.',
    parameters: named,
    body: json(ref('TenantChange')),
    answers: { 200: answer('The tenant.', ref('Tenant')), 404: notFound },
    scope: 'broker',
  },
  removeTenant: {
    method: 'DELETE',
    path: '/tenants/:name',
    tag: 'Tenants and usage',
    summary: 'Removes a suspended tenant, and what is kept for its clients.',
    parameters: named,
    answers: { 204: answer('It is removed.'), 404: notFound },
    scope: 'broker',
  },
  getUsage: {
    method: 'GET',
    path: '/usage',
    tag: 'Tenants and usage',
    summary: 'Answers what each tenant has used.',
    query: {
      tenant: parameter('Of this tenant alone.', text()),
      from: parameter(`${hour} By default this month.`, text()),
      to: parameter(`${hour} It does not belong to the report. By default now.`, text()),
      by: parameter('The time of a line.', { ...oneOf(USAGE_STEPS), default: 'total' }),
    },
    answers: {
      200: answer('The lines of the report.', ref('UsageReport')),
      501: answer('This deployment counts no usage.', ref('Problem')),
    },
    scope: 'broker',
  },
  getStats: {
    method: 'GET',
    path: '/stats',
    tag: 'Figures',
    summary: 'Answers figures of now, in a list of one node.',
    answers: { 200: answer('The figures.', list(ref('Stats'))) },
    scope: 'tenant',
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    tag: 'Figures',
    summary: 'Answers counts since the start, in a list of one node.',
    description: FROM_CLOUD_WATCH,
    answers: { 200: answer('The counts.', list(ref('Metrics'))) },
    scope: 'broker',
  },
  getPrometheus: {
    method: 'GET',
    path: '/prometheus/stats',
    tag: 'Figures',
    summary: 'Answers figures and counts for Prometheus.',
    description: FROM_CLOUD_WATCH,
    answers: {
      200: {
        description: 'Text in the format 0.0.4.',
        content: { schema: text(), type: PROMETHEUS_TYPE },
      },
    },
    scope: 'broker',
  },
  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Documents',
    summary: 'Answers this document.',
    answers: { 200: answer('OpenAPI 3.1.', { type: 'object' }) },
    scope: 'broker',
  },
  getAsyncApi: {
    method: 'GET',
    path: '/asyncapi.json',
    tag: 'Documents',
    summary: 'Answers the topics of a tenant for developers. A token has those of its own tenant.',
    description: 'A deployment answers operators alone, and has no examples of what flows.',
    roles: ['operator', 'client'],
    answers: {
      200: answer('AsyncAPI 3.0.', { type: 'object' }),
      404: answer('No topics are described here.', ref('Problem')),
      501: answer('A hub describes none.', ref('Problem')),
    },
    scope: 'tenant',
  },
} as const satisfies Readonly<Record<string, Operation>>;
