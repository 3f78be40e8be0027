export const TABLE = 'apus';
export const SESSIONS_TABLE = 'apus-sessions';
export const STREAMS_TABLE = 'apus-streams';
export const FAN_OUT = 'fan-out.fifo';
export const FAN_OUT_DEAD = 'fan-out-dead.fifo';
export const TIMERS = 'timers';
export const TIMERS_DEAD = 'timers-dead';
export const RULES = 'rules.fifo';
