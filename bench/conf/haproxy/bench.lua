-- What the rows lua-* of compare.py run.
core.register_action("set", { "http-req" }, function(txn)
	txn.http:req_set_header("x-script", "1")
end)

core.register_converters("turn", function(text)
	return text:reverse()
end)

local hundred = string.rep("x", 100)
core.register_service("hundred", "http", function(applet)
	applet:set_status(200)
	applet:add_header("content-length", "100")
	applet:start_response()
	applet:send(hundred)
end)
