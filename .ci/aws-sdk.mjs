// Hides the SDK's warning about a future minimum of Node.js: it concerns developers, and neither users nor a log of
// tests.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
