export type { HookIdentityDefaults } from './authentication-answer.ts';
export { fetchSender, textOf } from './fetch-sender.ts';
export {
  AUTHENTICATION_PLACEHOLDERS,
  HookAuthenticator,
} from './hook-authenticator.ts';
export { AUTHORIZATION_PLACEHOLDERS, HookAuthorizer, type OwnRules } from './hook-authorizer.ts';
export { type HookAnswer, HookClient, type HookSender } from './hook-client.ts';
export { CLOUD_HOOK_TIMEOUT_MS, DEFAULT_HOOK_LIMITS, type HookLimits } from './limits.ts';
export { type HookRequest, type RequestOptions, RequestTemplate } from './request-template.ts';
export { type HookTimers, systemTimers } from './system-timers.ts';
