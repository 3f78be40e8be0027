import { vi } from 'vitest';

/**
 * Imported where a hook or a test opens a whole broker: that takes a second, most of it for loading, and on a machine
 * that others use too it took more than twenty. These limits are only there against a hang.
 */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
