import Switchyard
import SwitchyardInspector

/// The web page that shows the calls of the demo.
struct DemoInspection: Sendable {
    private let inspector: TrafficInspector
    private let screen: DemoScreen

    /// Attaches an inspector to the demo's client.
    init(of client: NetworkClient, on screen: DemoScreen) throws(InspectorError) {
        var options = TrafficInspector.Options()
        options.allowsControl = true
        options.keepsAddress = false
        options.printsAddress = false
        inspector = try TrafficInspector(client, options: options)
        self.screen = screen
    }

    /// Waits until the page is open or the demo is interrupted.
    func open() async {
        screen.say("The demo starts when this page is open: \(inspector.address)")
        _ = await inspector.waitForPage()
    }

    /// Keeps the page open until the demo is interrupted.
    func stay() async {
        guard !Task.isCancelled else { return }
        screen.print(["", "The page is available until you press Ctrl-C: \(inspector.address)"])
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    }

    /// Closes the page.
    func close() {
        inspector.stop()
    }
}
