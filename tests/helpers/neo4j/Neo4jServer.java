import java.nio.file.Path;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** A Neo4j server for tests: arguments are its folder and its Bolt port; it ends when its standard input ends. */
public class Neo4jServer {
  public static void main(String[] arguments) throws Exception {
    var server = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
      .setConfig(BoltConnector.enabled, true)
      .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1])))
      .build();
    System.out.println("ready");
    while (System.in.read() != -1) { }
    server.shutdown();
    System.exit(0);
  }
}
