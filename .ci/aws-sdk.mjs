// The SDK warns of the Node.js that it will need: that is for us, and neither for a user nor for a log of tests.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
