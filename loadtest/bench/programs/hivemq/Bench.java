import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.parameter.*;
import com.hivemq.extension.sdk.api.services.Services;
import java.nio.file.Path;

/** Starts HiveMQ CE with the configuration of a folder, and lets everybody in. */
public class Bench {
  public static void main(String[] folders) {
    Path folder = Path.of(folders[0]);
    EmbeddedExtension everybody = EmbeddedExtension.builder()
        .withId("everybody")
        .withName("Everybody is welcome")
        .withVersion("1")
        .withExtensionMain(new Everybody())
        .build();
    EmbeddedHiveMQ.builder()
        .withConfigurationFolder(folder.resolve("conf"))
        .withDataFolder(folder.resolve("data"))
        .withExtensionsFolder(folder.resolve("extensions"))
        .withEmbeddedExtension(everybody)
        .build()
        .start()
        .join();
  }

  private static class Everybody implements ExtensionMain {
    @Override
    public void extensionStart(ExtensionStartInput input, ExtensionStartOutput output) {
      SimpleAuthenticator accept = (in, out) -> out.authenticateSuccessfully();
      Services.securityRegistry().setAuthenticatorProvider(provided -> accept);
    }

    @Override
    public void extensionStop(ExtensionStopInput input, ExtensionStopOutput output) {}
  }
}
